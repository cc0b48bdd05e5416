"""One run as a line of the report."""

from __future__ import annotations

from mlecore.reports.benchmark import edition_facts, listed
from mlecore.reports.document import RunLine
from mlecore.reports.graded import Graded
from mlecore.reports.position import position

_OF_REPORT = (
    "score score_text sample_score beats_sample rank teams percentile best_human "
    "gold_threshold silver_threshold bronze_threshold median_threshold"
).split()


def run_line(item: Graded, column: str) -> RunLine:
    """``column``: its seed among all of the setup's."""
    run, report = item.run, item.report
    facts = edition_facts(run.competition, run.edition) if run.edition != "v1" else None
    comparability = facts.comparability if facts else "same" if run.edition == "v1" else None
    usage = run.usage
    medals = report is not None and report.gold_threshold is not None
    submission: str
    if not item.counts:
        submission, why = run.state, run.reason
    elif report is None:
        submission = "not graded"
        why = run.reason if run.state == "collected" else "grade.json cannot be read"
    else:
        submission = {"graded": "valid", "invalid": "invalid", "none": "none"}[report.status]
        why = report.reason if report.status == "invalid" else ""
    return RunLine(
        run=run.name,
        group=run.group,
        competition=run.competition,
        split=listed(run.competition).split,
        metric=facts.metric if facts else listed(run.competition).metric,
        edition=run.edition,
        comparability=report.comparability if report else comparability,
        seed=run.seed,
        column=column,
        state=run.state,
        ended=run.ended,
        outcome=str(run.outcome or ""),
        reason=run.reason,
        obfuscation=run.obfuscation,
        data_kind=run.data_kind,
        submission=submission,
        why=why,
        lower_is_better=report.is_lower_better if report else None,
        medal=(report.medal or "none") if report and medals else None,
        above_median=report.above_median if report and medals else None,
        position=position(report) if item.counts else None,
        hours=None if run.seconds is None else run.seconds / 3600,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost_usd=usage.cost_usd if usage else None,
        suspicions=item.suspicions,
        remarks=item.remarks,
        judged={judgement.detector: judgement.outcome for judgement in item.judgements},
        **{name: getattr(report, name, None) for name in _OF_REPORT},
    )
