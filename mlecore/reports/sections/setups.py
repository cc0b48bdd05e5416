"""The sections about one setup: its runs, rates, failures and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlecore.agents import OUTCOMES as HOW_AGENTS_END
from mlecore.reports.cells import NONE, RATE_NAMES, interval, number, one_line, out_of, quantity, rate, score, threshold
from mlecore.reports.document import RunLine, SetupSummary
from mlecore.reports.rates import RATES
from mlecore.reports.sections.section import FLAGGED, Section
from mlecore.reports.statistics import LEVEL
from mlecore.runs.findings import OUTCOMES, place
from mlecore.units import counted, show_duration

_SHOWN = 3  # places of a finding


def setup_sections(setup: SetupSummary) -> Iterator[Section]:
    """Those that are not empty, in their order."""
    return (section for section in _all(setup) if section.rows or section.notes)


def _all(setup: SetupSummary) -> Iterator[Section]:
    yield _run_table(setup)
    yield _rate_table(setup)
    yield differences(setup)
    goal = RATE_NAMES[setup.goal]
    flagged = (f"{FLAGGED.upper()} %",) * bool(setup.flagged)
    if len(setup.pass_at_k) > 1:
        yield _section(
            setup,
            "pass-at-k",
            f"Best of k runs: {goal}",
            ("K", "COMPETITIONS", "PASS@K %", *flagged),
            [
                (
                    str(row.k),
                    out_of(row.competitions, row.planned),
                    f"{row.share:.1f}",
                    *([number(row.without_flagged, 1)] * len(flagged)),
                )
                for row in setup.pass_at_k
            ],
        )
    yield _section(
        setup,
        "slices",
        "By kind of competition",
        (
            "BY",
            "VALUE",
            "COMPETITIONS",
            "RUNS",
            f"{goal.upper()} %",
            *flagged,
            f"{LEVEL} % INTERVAL",
            "VALID %",
            "POSITION",
        ),
        [
            (
                row.by,
                row.value,
                out_of(row.competitions, row.planned_competitions),
                out_of(row.runs, row.planned_runs),
                number(row.goal, 1),
                *([number(row.goal_without_flagged, 1)] * len(flagged)),
                interval(row.interval),
                number(row.valid, 1),
                number(row.position, 2),
            )
            for row in setup.slices
        ],
    )
    yield _section(
        setup,
        "progress",
        "Over time",
        ("AFTER", "RUNS", f"{goal.upper()} %", "VALID %", "POSITION"),
        [
            (
                show_duration(at.seconds),
                str(at.runs),
                number(getattr(at, setup.goal), 1),
                f"{at.valid:.1f}",
                number(at.position, 2),
            )
            for at in setup.progress
        ],
        ("What the submissions would have earned at that time.",) * bool(setup.progress),
    )
    yield _section(
        setup,
        "failures",
        "How the runs ended",
        ("RESULT", "CAUSE", "RUNS", "FOR EXAMPLE"),
        [(failure.kind, failure.cause, str(len(failure.runs)), failure.runs[0]) for failure in setup.failures],
        _process_notes(setup),
    )
    yield _section(
        setup,
        "findings",
        "Findings of detectors",
        ("RUN", "DETECTOR", "VERDICT", "CONFIDENCE %", "RULE", "SUMMARY", "WHERE"),
        [
            (
                line.run,
                found.detector,
                found.verdict,
                NONE if found.confidence is None else f"{100 * found.confidence:.0f}",
                found.rule or NONE,
                found.summary,
                "; ".join(map(place, found.evidence[:_SHOWN])) or NONE,
            )
            for line in setup.runs
            for found in (*line.suspicions, *line.remarks)
        ],
    )
    yield _section(
        setup,
        "detectors",
        "Detectors",
        ("DETECTOR", "VERSION", *(outcome.upper() for outcome in OUTCOMES), "NOT JUDGED", "TOKENS", "US DOLLARS"),
        [
            (
                use.detector,
                ", ".join(use.versions),
                *(str(use.outcomes.get(outcome, 0)) for outcome in OUTCOMES),
                str(use.not_judged),
                quantity(use.tokens),
                quantity(use.cost_usd),
            )
            for use in setup.detectors
        ],
        [f"{use.detector}: {problem}" for use in setup.detectors for problem in use.problems],
    )


def _process_notes(setup: SetupSummary) -> Iterator[str]:
    if setup.process_ends.keys() > {"finished"}:
        yield f"The agents' processes: {', '.join(f'{n} {how}' for how, n in setup.process_ends.items())}."
    if setup.outcomes.keys() - {HOW_AGENTS_END["submitted"]}:
        yield f"As reported by the agents: {', '.join(f'{n} x {what}' for what, n in setup.outcomes.items())}."


def _section(
    setup: SetupSummary,
    id: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    notes: Iterable[str] = (),
) -> Section:
    cleaned = tuple(tuple(map(one_line, row)) for row in rows)
    return Section(
        id=id, title=title, header=tuple(header), rows=cleaned, notes=tuple(map(one_line, notes)), setup=setup.key
    )


def _run_table(setup: SetupSummary) -> Section:
    medals = setup.no_medals is None
    placed = any(line.position is not None for line in setup.runs)
    ranks = any(line.rank for line in setup.runs)
    header = ["COMPETITION", "SEED", "SCORE", "METRIC"]
    header += ["MEDAL", "GOLD", "SILVER", "BRONZE", "MEDIAN"] if medals else ["SAMPLE", "BEATS SAMPLE"]
    header += ["POSITION"] * placed + ["RANK"] * ranks + ["SUBMISSION", "GROUP"]
    rows = []
    for line in setup.runs:
        cells = [line.competition, str(line.seed), score(line), _metric(line)]
        if medals:
            cells.append({None: NONE, "none": "no medal"}.get(line.medal, line.medal or NONE))
            cells += [threshold(getattr(line, f"{name}_threshold")) for name in ("gold", "silver", "bronze", "median")]
        else:
            cells += [threshold(line.sample_score), {True: "yes", False: "no", None: NONE}[line.beats_sample]]
        cells += [number(line.position, 2)] * placed
        cells += [f"{line.rank} of {line.teams}" if line.rank else NONE] * ranks
        rows.append((*cells, _submission(line), line.group))
    return _section(setup, "runs", "Runs", header, rows)


def _metric(line: RunLine) -> str:
    better = {True: "lower is better", False: "higher is better", None: ""}[line.lower_is_better]
    return ", ".join(filter(None, (line.metric, better))) or NONE


def _submission(line: RunLine) -> str:
    process = "" if line.ended in (None, "finished") else line.ended.replace("_", " ")
    told = "" if line.outcome in ("", HOW_AGENTS_END["submitted"]) else f"agent: {line.outcome}"
    ended = f" ({'; '.join(filter(None, (process, told)))})" if process or told else ""
    why = f": {line.why.splitlines()[0][:100]}" if line.why else ""
    undecided = "undecided" in line.judged.values() or "failed" in line.judged.values()
    verdict = ", flagged" if line.suspicions else ", not known to be clean" if undecided else ""
    return f"{line.submission}{ended}{why}{verdict}"


def _rate_table(setup: SetupSummary) -> Section:
    names = RATES if setup.no_medals is None else (setup.goal, "valid", "made")
    header = ["SPLIT", "COMPETITIONS", "SEEDS", *(f"{RATE_NAMES[name].upper()} %" for name in names)]
    main = names[0]
    header.append(f"{LEVEL} % INTERVAL OF {RATE_NAMES[main].upper()}")
    rows = []
    for summary in setup.rates:
        row = summary.rates
        if not row.seeds and row.split != "these":
            continue  # most groups cover no split
        start = (row.split, str(row.competitions), str(len(row.seeds)))
        rows.append((*start, *(rate(row.rates[name]) for name in names), interval(summary.intervals[main])))
        if (clean_rates := summary.without_flagged) is not None:
            rows.append((f"{row.split}, {FLAGGED}", *start[1:], *(rate(clean_rates[n]) for n in names), NONE))
    notes = list(setup.notes)
    if setup.position is not None:
        where = f" ({LEVEL} % interval {interval(setup.position_interval, 2)})" if setup.position_interval else ""
        over = counted(setup.position_competitions, "competition")
        notes.append(
            f"Mean position over {over}, between the sample submission (0) and gold (1): {setup.position:.2f}{where}."
        )
    return _section(setup, "rates", "Rates", header, rows, notes)


def differences(setup: SetupSummary) -> Section:
    notes = []
    if setup.differences:
        notes.append(
            "Conditions differ between these runs" + ("." if setup.averaged else ", so they are not averaged.")
        )
        if not setup.averaged:
            notes.append("Report on one kind of them, or average anyway with --mix.")
    rows = [(name, " | ".join(values)) for name, values in setup.differences.items()]
    return _section(setup, "differences", "Not alike", ("CONDITION", "VALUES"), rows, notes)
