"""What setups reached on each competition, by kind of competition, over time, and in the best of several runs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from mle_ext_report.cells import FLAGGED, NONE, Section, interval, number, out_of, score, section, threshold
from mle_ext_report.document import SetupSummary
from mle_ext_report.lines import RunLine
from mle_ext_report.rates import MEDALS
from mle_ext_report.sections.setups import goals
from mle_ext_report.statistics import LEVEL
from mlecore.model.agents import OUTCOMES as HOW_AGENTS_END
from mlecore.util.units import show_duration


def by_competition(setups: Sequence[SetupSummary]) -> dict[str, dict[str, list[RunLine]]]:
    """Competition -> key of a setup -> its runs."""
    found: dict[str, dict[str, list[RunLine]]] = {}
    for setup in setups:
        for line in setup.runs:
            found.setdefault(line.competition, {}).setdefault(setup.key, []).append(line)
    return dict(sorted(found.items()))


def facts_line(by_setup: dict[str, list[RunLine]]) -> RunLine:
    """A run that knows its competition's thresholds and direction, if one does."""
    lines = [line for runs in by_setup.values() for line in runs]
    return next((line for line in lines if line.lower_is_better is not None), lines[0])


def results(setups: Sequence[SetupSummary]) -> Section:
    """Competitions by setups: the mean score of valid submissions, and what the runs earned."""
    rows, data = [], kinds_of_data(setups)
    for competition, by_setup in by_competition(setups).items():
        some = facts_line(by_setup)
        limits = (some.sample_score, some.bronze_threshold, some.gold_threshold)
        cells = (competition, data[competition], metric(some), *map(threshold, limits))
        rows.append((*cells, *(_earned(by_setup.get(setup.key, ())) for setup in setups)))
    header = ("COMPETITION", "DATA", "METRIC", "SAMPLE", "BRONZE", "GOLD", *(setup.key for setup in setups))
    note = "Scores are means of valid submissions. ↑ higher is better, ↓ lower is better."
    return section("results", "Results by competition", header, rows, [note])


def kinds_of_data(setups: Sequence[SetupSummary]) -> dict[str, str]:
    """Competition -> the kind of its data, where a report has several kinds; else NONE."""
    found: dict[str, dict[str, None]] = {}
    for setup in setups:
        for line in setup.runs:
            found.setdefault(line.competition, {}).update(
                {line.data_kind.replace("_", " "): None} if line.data_kind else {}
            )
    several = len({kind for of in found.values() for kind in of}) > 1
    return {competition: ", ".join(of) if several and of else NONE for competition, of in found.items()}


def metric(line: RunLine) -> str:
    better = {True: " ↓", False: " ↑", None: ""}[line.lower_is_better]
    return f"{line.metric or NONE}{better}"


def mean_score(runs: Sequence[RunLine]) -> str:
    """The mean over valid submissions; empty without any."""
    scores = [line.score for line in runs if line.score is not None]
    return f"{statistics.fmean(scores):.5f}" if scores else ""


def _earned(runs: Sequence[RunLine]) -> str:
    """Such as "0.97 (3 of 3 beat the sample)" or "0.62 gold, 2 bronze, 1 failed", without those that earned none."""
    if not runs:
        return NONE
    mean = mean_score(runs) or NONE
    if any(line.medal for line in runs):
        found = Counter(line.medal or line.submission for line in runs)
        del found["none"]
        order = sorted(found, key=lambda name: MEDALS.index(name) if name in MEDALS else len(MEDALS))
        earned = (name if found[name] == 1 and name in MEDALS else f"{found[name]} {name}" for name in order)
        return f"{mean} {', '.join(earned)}".rstrip()
    beating = sum(line.beats_sample is True for line in runs)
    others = Counter(line.reference for line in runs if line.reference)
    others += Counter(line.submission for line in runs if line.submission != "valid")
    others += Counter("the same" for line in runs if line.as_sample)
    rest = "".join(f", {count} {name}" for name, count in others.items())
    return f"{mean} ({beating} of {len(runs)} beat the sample{rest})"


def kinds(setups: Sequence[SetupSummary]) -> Section:
    header = ("SETUP", "GROUPED BY", "VALUE", "COMPETITIONS", "RUNS", f"{goals(setups)} %", f"{FLAGGED.upper()} %")
    rows = [
        (
            setup.key,
            row.by,
            row.value,
            out_of(row.competitions, row.planned_competitions),
            out_of(row.runs, row.planned_runs),
            number(row.goal, 1),
            number(row.goal_without_flagged, 1),
            interval(row.interval),
            number(row.valid, 1),
            number(row.position, 2),
        )
        for setup in setups
        for row in setup.slices
    ]
    return section("kinds", "By kind of competition", (*header, f"{LEVEL} % INTERVAL", "VALID %", "POSITION"), rows)


def best_of(setups: Sequence[SetupSummary]) -> Section:
    rows = [
        (
            setup.key,
            str(row.k),
            out_of(row.competitions, row.planned),
            f"{row.share:.1f}",
            number(row.without_flagged, 1),
        )
        for setup in setups
        if len(setup.pass_at_k) > 1
        for row in setup.pass_at_k
    ]
    header = ("SETUP", "K", "COMPETITIONS", "PASS@K %", f"{FLAGGED.upper()} %")
    return section("best-of-k", f"Best of k runs: {goals(setups).lower()}", header, rows)


def progress(setups: Sequence[SetupSummary]) -> Section:
    rows = [
        (
            setup.key,
            show_duration(at.seconds) if at.seconds % 3600 else f"{at.seconds / 3600:.0f}h",
            str(at.runs),
            number(getattr(at, setup.goal), 1),
            f"{at.valid:.1f}",
            number(at.position, 2),
        )
        for setup in setups
        for at in setup.progress
    ]
    header = ("SETUP", "AFTER", "RUNS", f"{goals(setups)} %", "VALID %", "POSITION")
    return section(
        "progress", "Over time", header, rows, ["What the submissions would have earned at that time."] * bool(rows)
    )


def runs(setups: Sequence[SetupSummary]) -> Section:
    header = ["SETUP", "COMPETITION", "DATA", "SEED", "SCORE", "METRIC", "MEDAL", "GOLD", "SILVER", "BRONZE", "MEDIAN"]
    header += ["SAMPLE", "BEATS SAMPLE", "POSITION", "RANK", "SUBMISSION", "FOLDER"]
    data = kinds_of_data(setups)
    rows = [
        (
            setup.key,
            line.competition,
            data[line.competition] if data[line.competition] == NONE else (line.data_kind or NONE).replace("_", " "),
            str(line.seed),
            score(line),
            metric(line),
            {None: line.reference or NONE, "none": "no medal"}.get(line.medal, line.medal or NONE),
            *(threshold(getattr(line, f"{name}_threshold")) for name in (*MEDALS, "median")),
            threshold(line.sample_score),
            "the same" if line.as_sample else {True: "yes", False: "no", None: NONE}[line.beats_sample],
            number(line.position, 2),
            f"{line.rank} of {line.teams}" if line.rank else NONE,
            submission(line),
            f"{line.group}/{line.run}",
        )
        for setup in setups
        for line in setup.runs
    ]
    return section("runs", "Runs", header, rows)


def submission(line: RunLine) -> str:
    """What became of the submission, how the run ended, and whether it is known to be clean."""
    process = "" if line.ended in (None, "finished") else line.ended.replace("_", " ")
    told = "" if line.outcome in ("", HOW_AGENTS_END["submitted"]) else f"agent: {line.outcome}"
    ended = f" ({'; '.join(filter(None, (process, told)))})" if process or told else ""
    why = f": {line.why.splitlines()[0][:100]}" if line.why else ""
    undecided = "undecided" in line.judged.values() or "failed" in line.judged.values()
    verdict = ", flagged" if line.suspicions else ", not known to be clean" if undecided else ""
    return f"{line.submission}{ended}{why}{verdict}"
