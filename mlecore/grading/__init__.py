"""From a submission to a report: score, place on the human leaderboard, medal."""

from mlecore.grading.report import Report, grade, report

__all__ = ["Report", "grade", "report"]
