"""From a submission to a report: its score, its rank on the human leaderboard, its medal."""

from mlecore.grading.report import Report, grade

__all__ = ["Report", "grade"]
