"""Is a score too good to be true? Only for real data: scores on synthetic data cannot be compared."""

from __future__ import annotations

from collections.abc import Iterator

from mlecore.model.detectors import Evidence, Finding
from mlecore.model.facts import Facts
from mlecore.model.record import RunRecord
from mlecore.model.report import Report, read_report
from mlecore.util.schema import SchemaError

RULE = "too-good"
_UNBOUNDED = ("log-likelihood", "log-mean")  # metrics whose best value is no fixed number
_CLOSE = 1e-6  # to a perfect score


def report_of(run: RunRecord) -> Report | None:
    """The grade of a run; None where there is none that can be read."""
    try:
        return read_report(run.folder / "grade.json", below=run.folder.parent)
    except (OSError, SchemaError):
        return None


def too_good(run: RunRecord, facts: Facts, max_gold_margin: float) -> Iterator[Finding]:
    """At most one finding, the surest; none where the score says nothing."""
    report = report_of(run)
    if report is None or report.exact is None or report.gold_threshold is None:
        return
    details = {
        "score": report.score,
        "gold": report.gold_threshold,
        "rank": report.rank,
        "teams": report.teams,
        "known_leaks_give": [leak.score for leak in facts.leaks if leak.score is not None],
    }
    words, confidence = _too_good(report, facts, max_gold_margin)
    yield Finding(
        rule=RULE,
        verdict="suspicious" if words else "clean",
        summary=words or f"its score, {report.score_text}, is one that people reached",
        confidence=confidence,
        evidence=(Evidence(file="grade.json"),) if words else (),
        details=details,
    )


def _too_good(report: Report, facts: Facts, max_gold_margin: float) -> tuple[str, float | None]:
    score, gold = report.exact, report.gold_threshold
    assert score is not None and gold is not None
    perfect = best_of(facts)
    if perfect is not None and abs(score - perfect) < _CLOSE <= abs(gold - perfect):
        return f"its score, {report.score_text}, is perfect, and gold begins at {gold}", 0.8
    if report.rank == 1 and report.teams:
        return f"its score, {report.score_text}, is as good as the best of {report.teams} human teams", 0.6
    bronze = report.bronze_threshold
    if bronze is not None and bronze != gold and report.rank is None:
        times = (score - gold) / (gold - bronze)
        if times > max_gold_margin:
            return (
                f"its score, {report.score_text}, is {times:.1f} times as far beyond gold as gold is from bronze",
                0.4,
            )
    return "", None


def best_of(facts: Facts) -> float | None:
    """The best value of the competition's metric; None where it has no bound."""
    if any(words in facts.metric for words in _UNBOUNDED):
        return None
    return 0.0 if facts.lower_is_better else 1.0
