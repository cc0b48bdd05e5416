"""Reports of single submissions and of batches, and grading in a separate process."""

import json
import math
import os
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner, Result

import mlecore
from mlecore.cli import main
from mlecore.data.prepared import Prepared
from mlecore.errors import GradingError, InvalidSubmission, UsageError
from mlecore.grading.batch import read_jsonl, totals
from mlecore.grading.isolated import IsolatedGrader
from mlecore.grading.report import grade
from mlecore.model.report import Report
from mlecore_testing.site_packages import forget
from mlecore_toolkit.submissions import guard

from .conftest import fetched

MLE_BENCH_KEYS = {
    *("competition_id", "score", "gold_threshold", "silver_threshold", "bronze_threshold", "median_threshold"),
    *("any_medal", "gold_medal", "silver_medal", "bronze_medal", "above_median", "submission_exists"),
    *("valid_submission", "is_lower_better", "created_at", "submission_path"),
}


def submission(folder: Path, value: object) -> Path:
    path = folder / "submission.csv"
    path.write_text(f"id,value\n1,{value}\n")
    return path


def hurry(tmp_path: Path) -> None:
    """From now on the grader of "tiny" may take 1 s: too little for any other test on a busy machine."""
    toml = tmp_path / "site" / "mle_comp_tiny" / "competition.toml"
    toml.write_text(toml.read_text().replace("seconds = 600", "seconds = 1"))
    forget()


def test_keys_and_round_trip(tiny: Prepared, tmp_path: Path) -> None:
    made = grade(mlecore.competition("tiny"), submission(tmp_path, 0.8123456), tiny)
    values = json.loads(json.dumps(made.to_json(), allow_nan=False))
    assert values.keys() >= MLE_BENCH_KEYS
    assert (values["score"], values["silver_medal"], values["valid_submission"]) == (0.81235, True, True)
    assert made.exact == 0.8123456
    assert Report.from_json({**values, "from_the_future": 1}) == made


@pytest.mark.parametrize(("value", "text"), [("nan", "nan"), ("inf", "inf"), ("-inf", "-inf")])
def test_scores_that_json_has_no_number_for(tiny: Prepared, tmp_path: Path, value: str, text: str) -> None:
    values = grade(mlecore.competition("tiny"), submission(tmp_path, value), tiny).to_json()
    assert (values["score"], values["score_text"], values["valid_submission"]) == (None, text, True)
    assert values["gold_medal"] is (text == "inf")
    json.dumps(values, allow_nan=False)


def test_invalid_and_missing(tiny: Prepared, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    made = grade(mlecore.competition("tiny"), path, tiny)
    assert (made.status, made.submission_exists) == ("none", False)
    path.write_text("id\n1\n")
    made = grade(mlecore.competition("tiny"), path, tiny)
    assert (made.status, made.reason, made.submission_exists) == ("invalid", "the column value is missing", True)
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert grade(mlecore.competition("tiny"), path, tiny).status == "invalid"


def test_a_bug_of_the_grader_is_not_the_agents_fault(tiny: Prepared, tmp_path: Path) -> None:
    with pytest.raises(GradingError, match="tiny: its hook grade failed: KeyError: 'bug'"):
        grade(mlecore.competition("tiny"), submission(tmp_path, "bug"), tiny)


def test_there_are_medals_on_published_data_only(tiny: Prepared, tmp_path: Path) -> None:
    """Data that nothing shows to be the competition's, such as those prepared with --skip-verification, compare with no
    leaderboard."""
    best, target = submission(tmp_path, 0.95), mlecore.competition("tiny")
    assert (grade(target, best, tiny).data_kind, grade(target, best, tiny).medal) == ("published", "gold")
    target.facts = evolve(target.facts, md5={"private/test.csv": "0" * 32})
    made = grade(target, best, tiny)
    assert (made.data_kind, made.medal, made.gold_threshold, made.rank) == ("unverified", None, None, None)
    target.facts = evolve(target.facts, md5={})
    assert grade(target, best, evolve(tiny, manifest=None)).data_kind == "unverified"
    target.facts = evolve(target.facts, thresholds=None)
    assert grade(target, best, tiny).data_kind == "no_leaderboard"
    assert grade(target, best, evolve(tiny, manifest=None)).data_kind == "unverified"


@pytest.mark.parametrize("value", [0.95, -0.5, "nan"])
def test_nothing_beats_a_sample_that_scores_nan(tiny: Prepared, tmp_path: Path, value: object) -> None:
    sample = next(tiny.public.glob("sample*.csv"))
    sample.write_text(sample.read_text().replace("0.1", "nan"))
    made = grade(mlecore.competition("tiny"), submission(tmp_path, value), evolve(tiny, manifest=None))
    assert made.valid_submission and (made.sample_score, made.beats_sample) == (None, None)


def test_synthetic_earns_no_medals_but_meets_the_sample(tiny: Prepared, tmp_path: Path) -> None:
    made = grade(mlecore.competition("tiny"), submission(tmp_path, 0.95), evolve(tiny, synthetic=True))
    assert (made.medal, made.gold_threshold, made.above_median) == (None, None, False)
    assert (made.sample_score, made.beats_sample) == (0.1, True)


def test_isolated_grader(tiny: Prepared, tmp_path: Path) -> None:
    found = mlecore.competition("tiny")

    def ask(value: str) -> Report:
        path = submission(tmp_path, value)
        return grader.grade(found, path, tiny)

    with IsolatedGrader() as grader:
        assert ask("0.75").medal == "bronze"
        hurry(tmp_path)
        with pytest.raises(GradingError, match="more than its limit of 1 s"):
            grader.grade(mlecore.competition("tiny"), submission(tmp_path, "slow"), tiny)
        with pytest.raises(GradingError, match=r"memory"):
            ask("greedy")
        with pytest.raises(GradingError, match="signal 9"):
            ask("die")
        assert math.isnan(ask("nan").exact or 0.0)  # the worker is as good as before
        none = grader.grade(found, None, tiny)
        assert (none.status, none.submission_path) == ("none", "")
        ((data, (source, score)),) = grader._samples.items()
        grader._samples[data] = source, score + 0.2
        assert ask("0.75").sample_score == score + 0.2, "the sample was graded once for all submissions"
        grader._samples[data] = "another plugin", 0.0
        assert ask("0.75").sample_score == score


@pytest.mark.slow
def test_check_has_the_graders_limits(tiny: Prepared, tmp_path: Path) -> None:
    def check(value: str) -> Result:
        path = submission(tmp_path, value)
        return CliRunner().invoke(main, ["check", str(path), "tiny", "--data", str(tmp_path)])

    good = check("0.5")
    assert good.exit_code == 0 and "is well-formed" in good.output
    assert str(os.getpid()) not in good.output
    result = check("0.5\n1,2,3,4")
    assert result.exit_code == 1 and "Invalid: " in result.output
    for value, words in (("greedy", "memory"), ("die", "signal 9"), ("slow", "took more than its limit of 1 s")):
        if value == "slow":
            hurry(tmp_path)
        result = check(value)
        assert (result.exit_code, words in result.output) == (3, True), result.output
        assert "checking a submission to tiny" in result.output


@pytest.mark.slow
def test_the_api_checks_large_files_under_the_graders_limits(tiny: Prepared, tmp_path: Path) -> None:
    competition = mlecore.competition("tiny")
    small = submission(tmp_path, "0.5")
    assert mlecore.check(competition, small, tiny.public) == [f"checked in process {os.getpid()}"]
    more = ("\n1," + "1" * 1021) * 2**13  # 8 MB
    large = submission(tmp_path, "0.5" + more)
    assert mlecore.check(competition, large, tiny.public) != [f"checked in process {os.getpid()}"]
    with pytest.raises(InvalidSubmission, match="cannot be read as a CSV"):
        mlecore.check(competition, submission(tmp_path, "1\n1,2,3" + more), tiny.public)
    hurry(tmp_path)
    with pytest.raises(GradingError, match="took more than its limit of 1 s"):
        mlecore.check(mlecore.competition("tiny"), submission(tmp_path, "slow" + more), tiny.public)


def test_the_report_is_the_same_from_the_api_and_from_a_process_of_its_own(tiny: Prepared, tmp_path: Path) -> None:
    leaderboard = tmp_path / "scores.csv"
    leaderboard.write_text("score\n0.9\n0.1\n")
    path = submission(tmp_path, 0.75)
    with IsolatedGrader() as grader:
        for data in (evolve(tiny, leaderboard=leaderboard), evolve(tiny, synthetic=True)):
            ours = mlecore.grade(mlecore.competition("tiny"), path, data)
            assert evolve(grader.grade(mlecore.competition("tiny"), path, data), created_at=ours.created_at) == ours
            assert (ours.rank, ours.beats_sample) == (None if data.synthetic else 2, True)


def test_a_submission_may_be_ten_times_as_large_as_the_sample_or_else_the_answers(
    tiny: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "LARGEST", 100)
    competition = mlecore.competition("tiny")
    path = submission(tmp_path, "0.5\n" + "2,0.5\n" * 50)
    with pytest.raises(InvalidSubmission, match="at most 150 are allowed"):
        competition.grade(path, tiny.private, tiny.public)
    assert grade(competition, path, tiny).status == "invalid"
    (tiny.public / "sample.csv").write_text("id,value\n" + "1,0.1\n" * 10)
    assert competition.grade(path, tiny.private, tiny.public) == 0.5
    assert competition.grade(path, tiny.private) == 0.5, "by the sample beside the answers"
    (tiny.public / "sample.csv").unlink()
    with pytest.raises(InvalidSubmission, match="at most 150 are allowed"):
        competition.grade(path, tiny.private)
    (tiny.private / "answers.csv").write_text("id,value\n" + "1,1.0\n" * 10)
    assert competition.grade(path, tiny.private) == 0.5


def test_scores_of_agents_are_no_medals(tiny: Prepared, tmp_path: Path) -> None:
    toml = tmp_path / "site" / "mle_comp_tiny" / "competition.toml"
    more = f'agents = ["baseline 0.1.0"]\nseeds = 5\ndate = "2026-11-28"\ndata = "{tiny.digest}"\n[limits]'
    toml.write_text(toml.read_text().replace("[thresholds]", "[reference]").replace("[limits]", more))
    target = mlecore.competition("tiny")
    made = {value: grade(target, submission(tmp_path, value), tiny) for value in (0.95, 0.85, 0.6, 0.5, math.nan)}
    assert [each.reference_place for each in made.values()] == ["gold", "silver", "median", None, None]
    assert {(each.medal, each.any_medal, each.above_median, each.gold_threshold) for each in made.values()} == {
        (None, False, False, None)
    }
    assert Report.from_json(json.loads(json.dumps(made[0.95].to_json()))) == made[0.95]
    assert [made[value].reference_words for value in (0.95, 0.6)] == ["reference gold", "above the reference median"]
    printed = CliRunner().invoke(main, ["competitions", "show", "tiny"]).output
    assert "reference: gold 0.9" in printed and "baseline 0.1.0" in printed
    # scores on other data say nothing about these
    (tiny.public / "sample.csv").write_text("id,value\n1,0.2\n")
    assert grade(target, submission(tmp_path, 0.95), fetched(tiny)).reference is None


def test_jsonl(tiny: Prepared, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text('# a comment\n\n{"competition_id": "tiny", "submission_path": null}\n// another\n')
    (line,) = read_jsonl(path)
    assert (line.competition_id, line.submission_path) == ("tiny", None)
    path.write_text('{"competition_id": "tiny", "submission_path": "a.csv"}\n{"competition": "tiny"}\n')
    with pytest.raises(UsageError, match=r"line 2: the key 'competition_id' is missing"):
        read_jsonl(path)


def test_totals(tiny: Prepared, tmp_path: Path) -> None:
    competition = mlecore.competition("tiny")
    reports = [grade(competition, submission(tmp_path, v), tiny) for v in ("0.95", "0.75", "0.1")]
    reports.append(grade(competition, tmp_path / "none.csv", tiny))
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
