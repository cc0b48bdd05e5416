"""All setups: their main figures, and their rates by split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from mle_ext_report.cells import (
    FLAGGED,
    NONE,
    Section,
    interval,
    out_of,
    quantity,
    rate,
    rate_heading,
    rate_name,
    said_once,
    section,
    without_column,
)
from mle_ext_report.document import SetupSummary, SplitSummary, ranked
from mle_ext_report.percentile import mark_words
from mle_ext_report.rates import MEDALS, PERCENTILE, RATES
from mle_ext_report.statistics import LEVEL
from mlecore.util.units import counted, show_duration

DETAILS = "AGENT, MODEL, OPTIONS"


def overview(setups: Sequence[SetupSummary]) -> Section:
    """A row per setup, the best first: rates over the planned competitions, time and cost of the graded runs."""
    header = ["SETUP", "NAME", DETAILS, "EDITION", "RUNS", f"{goals(setups)} %", goals(setups), f"{LEVEL} % INTERVAL"]
    header += [*(rate_heading(name) for name in (PERCENTILE, *MEDALS, "valid"))]
    header += ["TIME", "US DOLLARS", "TOKENS", "FLAGGED"]
    notes = []
    rows = [row for setup in setups for row in setup.rates]
    if any(found is not None and found.sem is not None for row in rows for found in row.rates.rates.values()):
        notes.append("± is one standard error over seeds: how much a rate on these competitions varies by seed.")
    if any(found is not None for row in rows for found in row.intervals.values()):
        notes.append("The interval is over competitions: how much a rate would vary on others like these.")
    rated = [(setup.key, setup.planned_rates) for setup in setups if setup.planned_rates]
    placed = [(key, _percentile(row)) for key, row in rated if row.rates.rates[PERCENTILE]]
    notes += said_once(placed, len(placed))
    if any(cost.runs > 1 for setup in setups for cost in setup.costs):
        notes.append("Time and cost are totals over the graded runs.")
    notes += said_once(((setup.key, note) for setup in setups for note in _unknown_costs(setup)), len(setups))
    several = len({setup.edition for setup in setups}) > 1
    counted_too = not all(setup.main_rate for setup in setups if setup.averaged)
    return section("setups", "Setups", header, (_row(setup, counted_too, several) for setup in ranked(setups)), notes)


def in_small_print(found: Section) -> Section:
    """The overview with what names leave out as a note, in place of a wide column."""
    if DETAILS not in found.header:
        return found
    at = found.header.index(DETAILS)
    return evolve(
        without_column(found, DETAILS),
        notes=(f"{'; '.join(f'{row[0]}: {row[at]}' for row in found.rows if row[at] != NONE)}.", *found.notes),
    )


def _row(setup: SetupSummary, counted_too: bool, several: bool) -> tuple[str, ...]:
    """``counted_too``: with the number of runs that reached the goal, where seeds are too incomplete for a rate;
    ``several``: with the edition."""
    found = setup.planned_rates
    rates = found.rates.rates if found else {}
    hours = setup.cost("hours")
    return (
        setup.key,
        setup.name,
        setup.small_print or NONE,
        setup.edition if several else NONE,
        out_of(setup.coverage.graded_runs, setup.coverage.planned_runs),
        rate(rates.get(setup.goal)),
        out_of(sum(line.reached_goal for line in setup.runs), setup.coverage.graded_runs)
        if counted_too and setup.averaged
        else NONE,
        interval(found.intervals[setup.goal]) if found else NONE,
        *(rate(rates.get(name)) for name in (PERCENTILE, *MEDALS, "valid")),
        NONE if hours is None else show_duration(3600 * hours),
        quantity(setup.cost("US dollars")),
        _tokens(setup),
        str(setup.flagged) if setup.detectors or setup.flagged else NONE,
    )


def _tokens(setup: SetupSummary) -> str:
    """Including the estimate for calls that did not report their tokens."""
    estimated = setup.cost("estimated tokens")
    if estimated is None:
        return quantity(setup.tokens)
    return (
        f"unknown, about {quantity(estimated)}"
        if setup.tokens is None
        else f"about {quantity(setup.tokens + estimated)}"
    )


def _unknown_costs(setup: SetupSummary) -> Iterator[str]:
    """What the sums leave out, and which come from the agents' logs alone."""
    if (estimated := setup.cost("estimated tokens")) is not None:
        yield f"About {quantity(estimated)} tokens are estimates, of calls whose responses do not report them."
    for cost in setup.costs:
        if cost.known < cost.runs and cost.unit != "estimated tokens":
            yield f"Of {counted(cost.runs, 'run')}, only {cost.known} have known {cost.unit}."
    logged = max((cost.known - cost.measured for cost in setup.costs if cost.measured is not None), default=0)
    if logged:
        of = "" if logged == setup.coverage.graded_runs else f" of {counted(logged, 'run')}"
        yield f"Tokens and dollars{of} are from the agent's logs, not the gateway."


def split_rates(setups: Sequence[SetupSummary]) -> Section:
    """A row per setup and list of competitions; a second one with flagged runs as failures."""
    every = [row for setup in setups for row in setup.rates]
    names = [name for name in (*RATES, "beats_sample") if any(row.rates.rates.get(name) is not None for row in every)]
    header = ["SETUP", "SPLIT", "COMPETITIONS", "SEEDS", *map(rate_heading, names)]
    rows = []
    for setup in setups:
        for summary in setup.rates:
            row = summary.rates
            if not row.seeds and row.split != "these":
                continue  # most groups cover no split
            medals = row.competitions - len(row.unranked)
            number = f"{row.competitions}, {medals} for medals" if row.left_out else str(row.competitions)
            start = (setup.key, row.split, number, str(len(row.seeds)))
            reach = [interval(summary.intervals.get(name)) for name in (setup.goal, PERCENTILE)]
            rows.append((*start, *(rate(row.rates.get(name)) for name in names), *reach))
            if (clean := summary.without_flagged) is not None:
                cells = (rate(clean.get(name)) for name in names)
                rows.append((start[0], f"{row.split}, {FLAGGED}", *start[2:], *cells, *(NONE for _ in reach)))
    header += [f"{LEVEL} % INTERVAL OF {name}" for name in (goals(setups), PERCENTILE.upper())]
    return section("rates", "Rates by split", header, rows, _beside_rates(setups))


def goals(setups: Sequence[SetupSummary]) -> str:
    """The name of the main rate, or the names where setups differ in it."""
    return " or ".join(sorted({rate_name(setup.goal).upper() for setup in setups}))


def _percentile(row: SplitSummary) -> str:
    shown = f" On the same competitions, {mark_words(row.marks)}." if row.marks else ""
    return f"Percentile: the share of human teams that scored no better, averaged over competitions.{shown}"


def _beside_rates(setups: Sequence[SetupSummary]) -> Iterator[str]:
    """Mean positions; and the percentiles of what setups are compared with, for each split."""
    for setup in setups:
        if setup.position is not None:
            found = setup.position_interval
            where = f" ({LEVEL} % interval {interval(found, 2)})" if found else ""
            over = counted(setup.position_competitions, "competition")
            yield (
                f"{setup.key}: mean position over {over}, between the sample submission (0) and gold (1): "
                f"{setup.position:.2f}{where}."
            )
    rows = ((setup.key, row) for setup in setups for row in setup.rates if row.marks)
    yield from said_once(
        ((key, f"Percentiles over {row.rates.split}: {mark_words(row.marks)}.") for key, row in rows), len(setups)
    )
