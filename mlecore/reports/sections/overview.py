"""The sections about all setups: their main figures first, their conditions last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlecore.reports.cells import NONE, RATE_NAMES, interval, one_line, out_of, quantity, rate
from mlecore.reports.document import SetupSummary, SplitSummary
from mlecore.reports.sections.section import Section
from mlecore.reports.statistics import LEVEL
from mlecore.units import counted, show_duration


def overview(setups: Sequence[SetupSummary]) -> Section:
    """One row per setup: rates over the planned competitions, time and cost of the graded runs."""
    goals = " or ".join(sorted({RATE_NAMES[setup.goal].upper() for setup in setups}))
    header = ("SETUP", "AGENT", "RUNS", f"{goals} %", f"{LEVEL} % INTERVAL", "VALID %", "TIME", "TOKENS", "US DOLLARS")
    notes = []
    rows = [row for setup in setups for row in setup.rates]
    if any(rate is not None and rate.sem is not None for row in rows for rate in row.rates.rates.values()):
        notes.append("± is one standard error over seeds: how much a rate on these competitions varies by seed.")
    if any(found is not None for row in rows for found in row.intervals.values()):
        notes.append("The interval is over competitions: how much a rate would vary on others like these.")
    notes += [note for setup in setups for note in _unknown_costs(setup)]
    return Section(
        id="overview", title="Setups", header=header, rows=tuple(map(_row, setups)), notes=tuple(map(one_line, notes))
    )


def _row(setup: SetupSummary) -> tuple[str, ...]:
    costs = {cost.unit: cost.total for cost in setup.costs}
    tokens = [costs[unit] for unit in ("input tokens", "output tokens") if unit in costs]
    cells = (
        setup.key,
        setup.title,
        out_of(setup.coverage.graded_runs, setup.coverage.planned_runs),
        *_rates(setup),
        show_duration(3600 * costs["hours"]) if "hours" in costs else NONE,
        quantity(sum(tokens)) if tokens else NONE,
        quantity(costs.get("US dollars")),
    )
    return tuple(map(one_line, cells))


def _rates(setup: SetupSummary) -> tuple[str, str, str]:
    """Goal, its interval, and valid submissions, over the planned competitions."""
    row = _planned_row(setup)
    if row is None:
        return NONE, NONE, NONE
    return rate(row.rates.rates[setup.goal]), interval(row.intervals[setup.goal]), rate(row.rates.rates["valid"])


def _planned_row(setup: SetupSummary) -> SplitSummary | None:
    """The rates over exactly the planned competitions, which may be a split of the benchmark."""
    planned = {line.competition for line in setup.runs}
    exact = (row for row in setup.rates if row.rates.split == "these" or planned == set(row.rates.ids))
    return next(exact, None)


def _unknown_costs(setup: SetupSummary) -> Iterator[str]:
    """What the sums leave out, and which of them only the agents' logs tell."""
    for cost in setup.costs:
        if cost.known < cost.runs:
            yield f"{setup.key}: {cost.unit} are known for {cost.known} of {counted(cost.runs, 'run')} only."
    logged = max((cost.known - cost.measured for cost in setup.costs if cost.measured is not None), default=0)
    if logged:
        yield f"{setup.key}: tokens and dollars of {counted(logged, 'run')} are from the agent's logs, not the gateway."


def conditions(setups: Sequence[SetupSummary]) -> Section:
    """One column per setup."""
    names = dict.fromkeys(name for setup in setups for name in setup.conditions)
    rows = [(name, *(setup.conditions.get(name, NONE) for setup in setups)) for name in names]
    return Section(
        id="conditions",
        title="Conditions",
        header=("CONDITION", *(setup.key for setup in setups)),
        rows=tuple(tuple(map(one_line, row)) for row in rows),
    )
