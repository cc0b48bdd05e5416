"""Detecting Insults: a comment in both tables."""

from __future__ import annotations

from pathlib import Path

from mlecore_testing import Trial


def test_a_comment_in_both_tables_is_refused(trial: Trial, tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text('Insult,Date,Comment\n0,,"""same"""\n')
    (tmp_path / "test_with_solutions.csv").write_text('Insult,Date,Comment,Usage\n1,,"""same""",PublicTest\n')
    trial.refuses_raw(tmp_path, "comments of train and test")
