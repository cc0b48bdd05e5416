"""A Document as tables of text: what text, Markdown and HTML all show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from attrs import frozen

from mlecore.reports.benchmark import slice_sources
from mlecore.reports.beside import Beside
from mlecore.reports.compare import Comparison
from mlecore.reports.document import Document, Own, RunLine, SetupSummary
from mlecore.reports.published import SPLITS
from mlecore.reports.rates import RATES, Rate
from mlecore.reports.statistics import LEVEL, Interval
from mlecore.runs.findings import OUTCOMES, place
from mlecore.units import counted, show_duration

RATE_NAMES = {
    "any_medal": "any medal",
    "gold": "gold",
    "silver": "silver",
    "bronze": "bronze",
    "above_median": "above median",
    "valid": "valid",
    "made": "made",
    "beats_sample": "beats sample",
}
NONE = "-"
FLAGGED = "flagged as failures"
_SHOWN = 3  # places of a finding


@frozen(kw_only=True)
class Section:
    """A table with its title, and sentences below it. ``setup``: the key of the setup that it is about."""

    id: str  # of the kind of section: "rates", "runs" ...
    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    setup: str | None = None


def sections(document: Document) -> Iterator[Section]:
    """Every section that is not empty, in the order of the report."""
    for setup in document.setups:
        yield from (section for section in _of_setup(setup) if section.rows or section.notes)
    if document.beside:
        yield _beside(document.beside)
    for comparison in document.comparisons:
        yield from _comparison(comparison)
    if len(document.comparisons) > 1:
        note = f"{len(document.comparisons)} pairs were compared; their p-values are not corrected for that."
        yield Section(id="comparisons", title="All comparisons", notes=(note,))
    if document.published:
        yield _published(document)
        yield from (_not_comparable(own) for own in document.own)


def _of_setup(setup: SetupSummary) -> Iterator[Section]:
    yield _run_table(setup)
    yield _rate_table(setup)
    yield _differences(setup)
    goal, medals = RATE_NAMES[setup.goal], setup.no_medals is None
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
                    str(row.competitions),
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
                str(row.competitions),
                str(row.runs),
                f"{row.goal:.1f}",
                *([number(row.goal_without_flagged, 1)] * len(flagged)),
                interval(row.interval),
                f"{row.valid:.1f}",
                number(row.position, 2),
            )
            for row in setup.slices
        ],
        (slice_sources(),) * any(row.by in ("size", "year") for row in setup.slices),
    )
    yield _section(
        setup,
        "progress",
        "Over time",
        ("AFTER", "RUNS", "ANY MEDAL %", "VALID %", "POSITION"),
        [
            (
                show_duration(at.seconds),
                str(at.runs),
                number(at.any_medal, 1),
                f"{at.valid:.1f}",
                number(at.position, 2),
            )
            for at in setup.progress
        ],
        ("What the submissions as they stood then would have earned.",) * bool(setup.progress),
    )
    yield _section(
        setup,
        "costs",
        "Costs",
        ("WHAT", "TOTAL", "KNOWN OF", *(["PER MEDAL"] * medals)),
        [
            (
                cost.what,
                quantity(cost.total),
                f"{cost.known} of {counted(cost.runs, 'run')}"
                + ("" if cost.measured is None else f", {cost.measured} measured by the gateway"),
                *([quantity(cost.per_medal)] * medals),
            )
            for cost in setup.costs
        ],
    )
    yield _section(
        setup,
        "failures",
        "How the runs ended",
        ("WHAT", "WHY", "RUNS", "SUCH AS"),
        [(failure.what, failure.why, str(len(failure.runs)), failure.runs[0]) for failure in setup.failures],
        (f"How the agents' processes ended: {', '.join(f'{n} {how}' for how, n in setup.ends.items())}.",)
        * bool(setup.ends),
    )
    yield _section(
        setup,
        "findings",
        "Findings of detectors",
        ("RUN", "DETECTOR", "VERDICT", "SURE %", "RULE", "WHAT", "WHERE"),
        [
            (
                line.run,
                found.detector,
                found.verdict,
                NONE if found.confidence is None else f"{100 * found.confidence:.0f}",
                found.rule,
                found.summary,
                "; ".join(map(place, found.evidence[:_SHOWN])) or NONE,
            )
            for line in setup.runs
            for found in line.suspicions
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
    yield _section(
        setup, "conditions", "Conditions", ("CONDITION", "VALUE"), [(k, v) for k, v in setup.conditions.items()]
    )


def _section(
    setup: SetupSummary,
    id: str,
    title: str,
    header: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    notes: Sequence[str] = (),
) -> Section:
    cleaned = tuple(tuple(map(clean, row)) for row in rows)
    return Section(
        id=id, title=title, header=tuple(header), rows=cleaned, notes=tuple(map(clean, notes)), setup=setup.key
    )


def _run_table(setup: SetupSummary) -> Section:
    medals = setup.no_medals is None
    placed = any(line.position is not None for line in setup.runs)
    ranks = any(line.rank for line in setup.runs)
    header = ["COMPETITION", "SEED", "SCORE"]
    header += ["MEDAL", "GOLD", "SILVER", "BRONZE", "MEDIAN"] if medals else ["SAMPLE", "BEATS SAMPLE"]
    header += ["POSITION"] * placed + ["RANK"] * ranks + ["SUBMISSION", "GROUP"]
    rows = []
    for line in setup.runs:
        cells = [line.competition, str(line.seed), score(line)]
        if medals:
            cells.append({None: NONE, "none": "no medal"}.get(line.medal, line.medal or NONE))
            cells += [threshold(getattr(line, f"{name}_threshold")) for name in ("gold", "silver", "bronze", "median")]
        else:
            cells += [threshold(line.sample_score), {True: "yes", False: "no", None: NONE}[line.beats_sample]]
        cells += [number(line.position, 2)] * placed
        cells += [f"{line.rank} of {line.teams}" if line.rank else NONE] * ranks
        rows.append((*cells, _submission(line), line.group))
    return _section(setup, "runs", "Runs", header, rows)


def _submission(line: RunLine) -> str:
    ended = "" if line.ended in (None, "finished") else f" ({line.ended.replace('_', ' ')})"
    why = f": {line.why.splitlines()[0][:100]}" if line.why else ""
    flagged = ", flagged" if line.suspicions else ""
    return f"{line.submission}{ended}{why}{flagged}"


def _rate_table(setup: SetupSummary) -> Section:
    names = RATES if setup.no_medals is None else (setup.goal, "valid", "made")
    header = ["SPLIT", "COMPETITIONS", "SEEDS", *(f"{RATE_NAMES[name].upper()} %" for name in names)]
    main = names[0]
    header.append(f"{LEVEL} % INTERVAL OF {RATE_NAMES[main].upper()}")
    rows = []
    for summary in setup.rates:
        row = summary.rates
        start = (row.split, str(row.competitions), str(len(row.seeds)))
        rows.append((*start, *(rate(row.rates[name]) for name in names), interval(summary.intervals[main])))
        if (clean_rates := summary.without_flagged) is not None:
            rows.append((f"{row.split}, {FLAGGED}", *start[1:], *(rate(clean_rates[n]) for n in names), NONE))
    notes = list(setup.notes)
    if setup.position is not None:
        where = f" ({LEVEL} % interval {interval(setup.position_interval, 2)})" if setup.position_interval else ""
        notes.append(f"Mean position between the sample submission (0) and gold (1): {setup.position:.2f}{where}.")
    if rows:
        notes.insert(0, "Mean ± one standard error over seeds; intervals by bootstrap over competitions and runs.")
    return _section(setup, "rates", "Rates", header, rows, notes)


def _differences(setup: SetupSummary) -> Section:
    notes = []
    if setup.differences:
        notes.append(
            "Conditions differ between these runs" + ("." if setup.averaged else ", so they are not averaged.")
        )
        if not setup.averaged:
            notes.append("Report on one kind of them, or average anyway with --mix.")
    rows = [(name, " | ".join(values)) for name, values in setup.differences.items()]
    return _section(setup, "differences", "Not alike", ("CONDITION", "VALUES"), rows, notes)


def _beside(found: Beside) -> Section:
    first, *others = found.keys
    goal = RATE_NAMES[found.goal].upper()
    rows = []
    for competition, reached in found.rows.items():
        shares = {key: there.goal for key, there in reached.items()}
        groups = dict.fromkeys(group for there in reached.values() for group in there.groups)
        cells = [competition]
        cells += [number(reached[key].score, 5) if key in reached else NONE for key in found.keys]
        cells += [number(shares.get(key), 1) for key in found.keys]
        cells += [f"{shares[first] - shares[k]:+.1f}" if {first, k} <= shares.keys() else NONE for k in others]
        rows.append((*map(clean, cells), clean(", ".join(groups))))
    scores, rates = ([f"{key} {what}" for key in found.keys] for what in ("SCORE", f"{goal} %"))
    header = ("COMPETITION", *scores, *rates, *(f"{first} - {key}" for key in others), "GROUPS")
    note = f"Mean scores of valid submissions, and the share of runs with the goal ({RATE_NAMES[found.goal]})."
    return Section(id="beside", title="All agents, side by side", header=header, rows=tuple(rows), notes=(note,))


def _comparison(found: Comparison) -> Iterator[Section]:
    title = f"{found.a}  against  {found.b}"
    rows = tuple(
        (
            RATE_NAMES[row.rate] + f", {FLAGGED}" * row.without_flagged,
            f"{row.a:.1f}",
            f"{row.b:.1f}",
            f"{row.difference:+.1f}",
            interval(row.interval),
            f"{row.p:.4f}" if row.p >= 0.0001 else "< 0.0001",
        )
        for row in found.differences
    )
    a, b = found.a.split(":")[0], found.b.split(":")[0]
    notes = [
        f"Over what both ran ({_competitions(found.competitions)}); p by a paired permutation test over competitions."
    ]
    if found.a_wins is not None:
        where = f" ({LEVEL} % interval {interval(found.a_wins_interval, 2)})" if found.a_wins_interval else ""
        notes.append(f"A run of {a} beats one of {b} with a probability of {found.a_wins:.2f}{where}, by score.")
    if found.differ:
        differ = "; ".join(f"{name}: {' | '.join(values)}" for name, values in found.differ.items())
        done = "" if rows else " They are not compared; --mix compares them anyway."
        notes.append(f"Not comparable: {differ}.{done}")
    header = ("RATE", f"{a} %", f"{b} %", "DIFFERENCE", f"{LEVEL} % INTERVAL", "P")
    yield Section(
        id="comparison",
        title=clean(title),
        header=header if rows else (),
        rows=rows,
        notes=tuple(map(clean, notes)),
    )
    goal = RATE_NAMES[found.goal].upper()
    yield Section(
        id="pairs",
        title=f"{a} and {b}, side by side",
        header=(
            "COMPETITION",
            f"{a} SCORE",
            f"{b} SCORE",
            f"{a} {goal} %",
            f"{b} {goal} %",
            "DIFFERENCE",
            f"{a} WINS",
            "GROUPS",
        ),
        rows=tuple(
            (
                clean(pair.competition),
                number(pair.a_score, 5),
                number(pair.b_score, 5),
                f"{pair.a:.1f}",
                f"{pair.b:.1f}",
                f"{pair.difference:+.1f}",
                f"{pair.a_wins:.2f}",
                clean(", ".join(pair.groups)),
            )
            for pair in found.pairs
        ),
    )


def _competitions(count: int) -> str:
    return f"{count} competition{'' if count == 1 else 's'}"


def _published(document: Document) -> Section:
    lines = [
        (
            entry.rates["all"][0],
            (
                entry.agent,
                entry.models,
                *(f"{mean:.2f} ± {sem:.2f}" for mean, sem in (entry.rates[split] for split in SPLITS)),
                f"{entry.hours:g}",
                entry.date,
                "yes" if entry.known_leak else "no",
                "yes" if entry.reports_available else "no",
            ),
        )
        for entry in document.published
    ]
    for own in document.own:
        shown = [f"{own.rates[s].mean:.2f} ± {own.rates[s].sem:.2f}" if s in own.rates else NONE for s in SPLITS]
        place = own.rates["all"].mean if "all" in own.rates else -1.0
        lines.append((place, (f"→ {own.key}", own.title, *shown, "", document.created_at[:10], "", "")))
    header = ("AGENT", "MODELS", *(f"{split.upper()} %" for split in SPLITS), "HOURS", "DATE", "KNOWN LEAK", "REPORTS")
    return Section(
        id="published",
        title="Any medal, among the published entries",
        header=header,
        rows=tuple(tuple(map(clean, cells)) for _, cells in sorted(lines, key=lambda line: -line[0])),
        notes=(f"Source: {document.published_source}.",),
    )


def _not_comparable(own: Own) -> Section:
    return Section(
        id="not-comparable",
        title=f"What keeps {own.key} from comparing with them",
        notes=tuple(f"{reason[0].upper()}{reason[1:]}." for reason in map(clean, own.not_comparable)),
    )


def score(line: RunLine) -> str:
    if line.score is not None:
        return f"{line.score:.5f}"
    return line.score_text or NONE


def threshold(value: float | None) -> str:
    """As short as possible, exact to five digits."""
    if value is None:
        return NONE
    return f"{value:.5g}" if abs(value) >= 1e5 else f"{value:.5f}".rstrip("0").rstrip(".")


def number(value: float | None, digits: int) -> str:
    return NONE if value is None or math.isnan(value) else f"{value:.{digits}f}"


def quantity(value: float | None) -> str:
    """Three significant digits below 100, whole with separators above."""
    return NONE if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rate(value: Rate | None) -> str:
    return NONE if value is None else str(value)


def interval(value: Interval | None, digits: int = 1) -> str:
    return NONE if value is None else f"{value[0]:.{digits}f} to {value[1]:.{digits}f}"


def clean(text: str) -> str:
    """On one line and without control characters, which a run's records may hold."""
    return "".join(c if c.isprintable() else " " for c in text)
