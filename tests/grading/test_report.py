"""Reports of single submissions and of batches, and grading in a process of its own."""

import json
import math
from pathlib import Path

import pytest

import mlecore
from mlecore.errors import GradingError, UsageError
from mlecore.grading.batch import read_jsonl, totals
from mlecore.grading.isolated import IsolatedGrader
from mlecore.grading.report import Report, grade, report

MLE_BENCH_KEYS = {
    *("competition_id", "score", "gold_threshold", "silver_threshold", "bronze_threshold", "median_threshold"),
    *("any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median", "submission_exists"),
    *("valid_submission", "is_lower_better", "created_at", "submission_path"),
}


def submission(folder: Path, value: object) -> Path:
    path = folder / "submission.csv"
    path.write_text(f"id,value\n1,{value}\n")
    return path


def test_keys_and_round_trip(tiny: Path, tmp_path: Path) -> None:
    made = report(mlecore.competition("tiny"), submission(tmp_path, 0.8123456), tiny / "private")
    values = json.loads(json.dumps(made.to_json(), allow_nan=False))
    assert values.keys() >= MLE_BENCH_KEYS
    assert (values["score"], values["silver_medal"], values["valid_submission"]) == (0.81235, True, True)
    assert made.exact == 0.8123456
    assert Report.from_json({**values, "from_the_future": 1}) == made


@pytest.mark.parametrize(("value", "text"), [("nan", "nan"), ("inf", "inf"), ("-inf", "-inf")])
def test_scores_that_json_has_no_number_for(tiny: Path, tmp_path: Path, value: str, text: str) -> None:
    values = report(mlecore.competition("tiny"), submission(tmp_path, value), tiny / "private").to_json()
    assert (values["score"], values["score_text"], values["valid_submission"]) == (None, text, True)
    assert values["gold_medal"] is (text == "inf")
    json.dumps(values, allow_nan=False)


def test_invalid_and_missing(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    made = report(mlecore.competition("tiny"), path, tiny / "private")
    assert (made.status, made.submission_exists) == ("none", False)
    path.write_text("id\n1\n")
    made = report(mlecore.competition("tiny"), path, tiny / "private")
    assert (made.status, made.reason, made.submission_exists) == ("invalid", "the column value is missing", True)
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert report(mlecore.competition("tiny"), path, tiny / "private").status == "invalid"


def test_a_bug_of_the_grader_is_not_the_agents_fault(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(GradingError, match="tiny: its hook grade failed: KeyError: 'bug'"):
        report(mlecore.competition("tiny"), submission(tmp_path, "bug"), tiny / "private")


def test_synthetic_earns_no_medals_but_meets_the_sample(tiny: Path, tmp_path: Path) -> None:
    made = grade(mlecore.competition("tiny"), submission(tmp_path, 0.95), tiny / "private", synthetic=True)
    assert (made.medal, made.gold_threshold, made.above_median) == (None, None, False)
    assert (made.sample_score, made.beats_sample) == (0.1, True)


def test_isolated_grader(tiny: Path, tmp_path: Path) -> None:
    private = tiny / "private"

    def ask(value: str) -> Report:
        path = submission(tmp_path, value)
        return grader.grade(
            competition="tiny", edition="v1", submission=path, private=tiny / "private", synthetic=False
        )

    with IsolatedGrader() as grader:
        assert ask("0.75").medal == "bronze"
        with pytest.raises(GradingError, match="more than its limit of 2 s"):
            ask("slow")
        with pytest.raises(GradingError, match=r"memory"):
            ask("greedy")
        with pytest.raises(GradingError, match="signal 9"):
            ask("die")
        assert math.isnan(ask("nan").exact or 0.0)  # the worker is as good as before
        none = grader.grade(
            competition="tiny", edition="v1", submission=None, private=tiny / "private", synthetic=False
        )
        assert (none.status, none.submission_path) == ("none", "")
        with pytest.raises(GradingError, match="no competition called 'other'"):
            grader.grade(competition="other", edition="v1", submission=None, private=private, synthetic=False)


def test_jsonl(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text('# a comment\n\n{"competition_id": "tiny", "submission_path": null}\n// another\n')
    (line,) = read_jsonl(path)
    assert (line.competition_id, line.submission_path) == ("tiny", None)
    path.write_text('{"competition_id": "tiny", "submission_path": "a.csv"}\n{"competition": "tiny"}\n')
    with pytest.raises(UsageError, match=r"line 2: the key 'submission_path' is missing"):
        read_jsonl(path)


def test_totals(tiny: Path, tmp_path: Path) -> None:
    competition, private = mlecore.competition("tiny"), tiny / "private"
    reports = [report(competition, submission(tmp_path, v), private) for v in ("0.95", "0.75", "0.1")]
    reports.append(report(competition, tmp_path / "none.csv", private))
    found = totals(reports)
    assert [found[f"total_{k}"] for k in ("runs", "runs_with_submissions", "valid_submissions", "medals")] == [
        4,
        3,
        3,
        2,
    ]
    assert [found[f"total_{k}"] for k in ("gold_medals", "silver_medals", "bronze_medals", "above_median")] == [
        1,
        0,
        1,
        2,
    ]
    assert len(found["competition_reports"]) == 4
