"""A report as text: every run, then rates as mean ± one standard error over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlecore.grading.report import Report
from mlecore.reports.rates import RATES, rows
from mlecore.reports.setups import Graded, Setup

Cells = list[str]

RUN_HEADER = ["COMPETITION", "SEED", "SCORE", "MEDAL", "GOLD", "SILVER", "BRONZE", "MEDIAN", "SUBMISSION"]
SYNTHETIC_HEADER = ["COMPETITION", "SEED", "SCORE", "SAMPLE", "BEATS SAMPLE", "SUBMISSION"]
_NAMES = {"any_medal": "ANY MEDAL %", "above_median": "ABOVE MEDIAN %"}


def has_thresholds(setup: Setup) -> bool:
    """Does any of its runs have a place on a human leaderboard?"""
    return any(item.report and item.report.gold_threshold is not None for item in setup.runs)


def run_table(setup: Setup) -> tuple[Cells, list[Cells]]:
    """Header and a row a run: with medals where there is a leaderboard, else against the sample submission."""
    if has_thresholds(setup):
        rows = [_run(item, medals=True) for item in setup.runs]
        if not any(item.report and item.report.rank for item in setup.runs):
            return RUN_HEADER, rows
        ranks = [_rank(item.report) for item in setup.runs]  # where Kaggle's whole leaderboard was fetched
        return [*RUN_HEADER, "RANK"], [[*row, rank] for row, rank in zip(rows, ranks, strict=True)]
    return SYNTHETIC_HEADER, [_run(item, medals=False) for item in setup.runs]


def _run(item: Graded, medals: bool) -> Cells:
    report = item.report
    start = [item.run.competition, str(item.run.seed), _score(report)]
    if medals:
        middle = [(report.medal or "-") if report else "-"]
        middle += [
            _number(getattr(report, f"{name}_threshold", None)) for name in ("gold", "silver", "bronze", "median")
        ]
    else:
        beats = {True: "yes", False: "no", None: "-"}[report.beats_sample if report else None]
        middle = [_number(report.sample_score if report else None), beats]
    return [*start, *middle, _submission(item)]


def _score(report: Report | None) -> str:
    if report is None:
        return "-"
    return f"{report.score:.5f}" if report.score is not None else report.score_text or "-"


def _rank(report: Report | None) -> str:
    return f"{report.rank} of {report.teams}" if report and report.rank else "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}" if abs(value) >= 1e5 else f"{value:.5f}".rstrip("0").rstrip(".")


def _submission(item: Graded) -> str:
    if item.run.state != "graded":
        reason = f": {item.run.reason.splitlines()[0]}" if item.run.reason else ""
        return ("not graded" if item.run.state == "collected" else item.run.state) + reason
    ended = "" if item.run.ended in (None, "finished") else f" ({item.run.ended.replace('_', ' ')})"
    if item.report is None:
        return f"graded, but grade.json cannot be read{ended}"
    words = {"graded": "valid", "invalid": "invalid", "none": "none"}[item.report.status]
    why = f": {item.report.reason.splitlines()[0][:100]}" if item.report.status == "invalid" else ""
    return words + ended + why


def rate_table(setup: Setup) -> tuple[Cells, list[Cells]]:
    """Header and a row a split. Without a leaderboard: validity, and the share that beats the sample."""
    names: Sequence[str] = RATES if has_thresholds(setup) else ("valid", "submitted")
    header = ["SPLIT", "COMPETITIONS", "SEEDS", *(_NAMES.get(name, f"{name.upper()} %") for name in names)]
    table = rows(item.outcome for item in setup.counted)
    return header, [
        [row.split, str(row.competitions), str(row.seeds), *(str(row.rates[name]) for name in names)] for row in table
    ]


def notes(setup: Setup) -> Iterator[str]:
    """What a reader must know about the numbers above."""
    if setup.synthetic:
        yield "Synthetic data: validity and learning, no medals; such scores compare with nothing."
    elif not has_thresholds(setup) and any(item.report for item in setup.runs):
        yield "No human leaderboard here, so no medals."
    beaten = [item.report.beats_sample for item in setup.runs if item.report and item.report.beats_sample is not None]
    if beaten:
        yield f"{sum(beaten)} of {len(beaten)} graded runs beat the sample submission."
    if any(row.uneven for row in rows(item.outcome for item in setup.counted)):
        yield "The seeds do not all cover the same competitions: each seed counts those that it has."
    for item in setup.runs:
        if item.run.state == "collected":
            again = f"`mlecore runs resume {item.run.group}`"
            yield f"{item.run.name} could not be graded yet and counts as no medal until then: {again}."
    left_out = [item.run.name for item in setup.runs if not item.counts]
    if left_out:
        shown = ", ".join(left_out[:5]) + (" ..." if len(left_out) > 5 else "")
        yield f"Not counted, as they have not been graded: {len(left_out)} runs ({shown})."
