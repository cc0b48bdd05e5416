"""MLE-bench's run groups as groups of ours."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_ext_sharing.importing import import_runs
from mle_ext_sharing.mlebench import import_group

from mlecore.cli import main
from mlecore.errors import DataError, UsageError
from mlecore.model.record import RunRecord
from mlecore.runs.store import load_group
from mlecore_testing import drawn_groups, grades

PLAIN = "leaf-classification_1b2c3d4e-0001", "leaf-classification_1b2c3d4e-0002", "AI4Code_9f-1"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A run group with two seeds of one competition and a grading report that lists them in another order."""
    import random

    folder = tmp_path / "2024-09-30T20-49-35-GMT_run-group_aide"
    reports = []
    for number, name in enumerate(PLAIN):
        run = folder / name
        for part in ("submission/submission.csv", "logs/run.log", "code/solution.py"):
            (run / part).parent.mkdir(parents=True, exist_ok=True)
            (run / part).write_text(f"{part} {number}\n")
        fate = "invalid" if number == 1 else "graded"
        report = drawn_groups.drawn_report(name.rpartition("_")[0], random.Random(number), 0.5, fate).to_json()
        ours = ("status", "reason", "edition", "data_kind", "score_text", "sample_score", "beats_sample", "plugin")
        ours += ("rank", "teams", "percentile", "best_human", "run")
        ours += ("threshold_percentiles", "sample_percentile")
        reports.append({key: value for key, value in report.items() if key not in ours})
        reports[-1]["submission_path"] = f"/somewhere/{folder.name}/{name}/submission/submission.csv"
    values = {"run_group": folder.name, "created_at": "2024-09-30T20-49-35-GMT", "runs": {name: {} for name in PLAIN}}
    (folder / "metadata.json").write_text(json.dumps(values))
    report = {"total_runs": 3, "competition_reports": list(reversed(reports))}
    (folder / "2024-10-02_grading_report.json").write_text(json.dumps(report))
    return folder


def test_a_group(theirs: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["runs", "import", str(theirs), "--runs", str(tmp_path / "runs")])
    assert result.exit_code == 0, result.output
    assert "3 runs, 0 of them without a grade" in result.output
    folder = tmp_path / "runs" / theirs.name
    records = {record.name: record for record in load_group(folder)}
    first, second = records["aide--leaf-classification--0"], records["aide--leaf-classification--1"]
    assert (first.imported_from, first.state, first.agent.name) == ("MLE-bench", "graded", "aide")
    assert (first.folder / "submission" / "submission.csv").read_text() == "submission/submission.csv 0\n"
    assert (second.folder / "logs" / "run.log").read_text() == "logs/run.log 1\n"
    valid = [json.loads((run.folder / "grade.json").read_text())["valid_submission"] for run in (first, second)]
    assert valid == [True, False]  # reports are matched by their submission's path, not by their order


def test_without_reports(theirs: Path, tmp_path: Path) -> None:
    (theirs / "2024-10-02_grading_report.json").unlink()
    imported = import_group(theirs, tmp_path / "runs", agent="their agent", name="g")
    assert len(imported.without_grade) == 3
    record = load_group(tmp_path / "runs" / "g")[0]
    assert (record.state, record.agent.name) == ("collected", "their-agent")


def test_links_and_pipes_stay_there(theirs: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("what nobody may read")
    submission = theirs / PLAIN[2] / "submission" / "submission.csv"
    submission.unlink()
    submission.symlink_to(secret)
    (theirs / PLAIN[2] / "logs" / "link").symlink_to(secret)
    os.mkfifo(theirs / PLAIN[2] / "logs" / "pipe")
    imported = import_group(theirs, tmp_path / "runs", name="g")
    assert any("submission.csv: it is a link" in line for line in imported.left_out)
    assert not any("nobody may read" in path.read_text() for path in (tmp_path / "runs").rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not JSON"),
        ('{"runs": {}}', "names no run"),
        ('{"runs": {"../x_1": {}}}', "is not a run"),
    ],
)
def test_damaged_groups(theirs: Path, tmp_path: Path, content: str, said: str) -> None:
    (theirs / "metadata.json").write_text(content)
    with pytest.raises(UsageError, match=said):
        import_group(theirs, tmp_path / "runs", name="g")
    assert not (tmp_path / "runs").exists()


def test_a_grading_report_alone(theirs: Path, tmp_path: Path) -> None:
    (path,) = theirs.glob("*report.json")
    done = import_runs(path, tmp_path / "runs", agent="aide", name="g")
    records = load_group(tmp_path / "runs" / done.group)
    assert {record.name for record in records if record.state == "graded"} == {
        "aide--leaf-classification--0",
        "aide--leaf-classification--1",
        "aide--AI4Code--0",
    }
    single = json.loads(path.read_text())["competition_reports"][0]
    for name, content in (("one", single), ("list", [single])):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
        assert import_runs(tmp_path / f"{name}.json", tmp_path / "runs").runs == 1
    (tmp_path / "empty.json").write_text('{"competition_reports": []}')
    with pytest.raises(UsageError, match="of no run"):
        import_runs(tmp_path / "empty.json", tmp_path / "runs")


def test_a_table_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "paper.csv"
    path.write_bytes(
        b"\xef\xbb\xbfAgent,competition_id,Score\naide,spaceship-titanic,0.81\naide,spaceship-titanic,\nx,AI4Code,0.1\n"
    )
    done = import_runs(path, tmp_path / "runs")
    found = {record.name: record.report for record in load_group(tmp_path / "runs" / done.group)}
    medal, none = found["aide--spaceship-titanic--0"], found["aide--spaceship-titanic--1"]
    assert medal and (medal.score, medal.medal, medal.status) == (0.81, "bronze", "graded")
    assert none and (none.score, none.medal, none.status) == (None, None, "none")
    for text, says in (
        ("a,b\n1,2\n", "no columns"),
        ("competition,score\n", "no row"),
        ("competition,score\nspaceship-titanic,good\n", "line 2: 'good'"),
        ("competition,score\nno-such-one,1\n", "no-such-one"),
        ("competition,score,seed\nspaceship-titanic,1,0.5\n", "whole number"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=says):
            import_runs(path, tmp_path / "other")


def write_v2(path: Path, synthetic: bool = False) -> None:
    """Results on v2 as a grading report of mlecore's, or as a table of scores."""
    kind = "synthetic" if synthetic else "published"
    if path.suffix == ".csv":
        rows = [f"{id},0.99,v2,{kind}\n" for id in V2]
        path.write_text("".join(["competition,score,edition,data_kind\n", *rows]))
        return
    none = dict.fromkeys([f"{name}_threshold" for name in ("gold", "silver", "bronze", "median")])
    reports = [
        grades.report(
            0.99,
            "gold" if of != "none" and not synthetic else None,
            competition_id=id,
            edition="v2",
            comparability=of,
            data_kind=kind,
            **(none if of == "none" or synthetic else {}),
        ).to_json()
        for id, of in V2.items()
    ]
    path.write_text(json.dumps({"competition_reports": reports}))


V2 = {"spaceship-titanic": "near", "random-acts-of-pizza": "none"}


@pytest.mark.parametrize("synthetic", [False, True])
@pytest.mark.parametrize("name", ["report.json", "scores.csv"])
def test_record_grade_and_report_agree_on_the_edition(tmp_path: Path, name: str, synthetic: bool) -> None:
    write_v2(tmp_path / name, synthetic)
    import_runs(tmp_path / name, tmp_path / "runs", name="g")
    for record in load_group(tmp_path / "runs" / "g"):
        grade = record.report
        assert (record.edition, record.data_kind) == ("v2", "synthetic" if synthetic else "published")
        assert grade is not None and (grade.edition, grade.data_kind) == (record.edition, record.data_kind)
        assert (grade.comparability, grade.any_medal) == (
            V2[record.competition],
            V2[record.competition] == "near" and not synthetic,
        )
    shown = CliRunner().invoke(main, ["report", "g", "--runs", str(tmp_path / "runs"), "--format", "json"])
    (setup,) = json.loads(shown.output)["setups"]
    assert setup["edition"] == "v2" and (setup["goal"] == "beats_sample") == synthetic


@pytest.mark.parametrize(
    ("other", "said"), [("edition", "editions v1, v2"), ("data_kind", "real and of synthetic data")]
)
@pytest.mark.parametrize("name", ["report.json", "scores.csv"])
def test_a_group_has_one_edition_and_kind_of_data(tmp_path: Path, name: str, other: str, said: str) -> None:
    path = tmp_path / name
    write_v2(path)
    old, new = {"edition": ("v2", "v1"), "data_kind": ("published", "synthetic")}[other]
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UsageError, match=said):
        import_runs(path, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("broken", ["no folder", "full disk"])
def test_half_a_group_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    write_v2(tmp_path / "scores.csv")
    runs = tmp_path / "runs"
    if broken == "no folder":
        runs.write_text("")
    else:
        monkeypatch.setattr("mle_ext_sharing.foreign.write_record", full_disk)
    with pytest.raises(DataError, match="no group can be created in"):
        import_runs(tmp_path / "scores.csv", runs)
    assert not runs.is_dir() or [*runs.iterdir()] == []


def full_disk(record: RunRecord) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
@pytest.mark.parametrize("competition", ["a/../../../out", "..", ""])
def test_a_competition_that_would_lead_out_of_the_group_is_rejected(
    tmp_path: Path, name: str, competition: str
) -> None:
    values = {**grades.report().to_json(), "competition_id": competition, "submission_path": ""}
    (tmp_path / name).write_text(json.dumps(values if name.endswith("l") else {"competition_reports": [values]}))
    with pytest.raises(UsageError, match="is no name of a competition"):
        import_runs(tmp_path / name, tmp_path / "runs")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_group_as_json_lines_and_back(theirs: Path, tmp_path: Path) -> None:
    import_group(theirs, tmp_path / "runs", name="g")
    listing, words = tmp_path / "again.jsonl", ["--runs", str(tmp_path / "runs")]
    done = CliRunner().invoke(main, ["runs", "export", "g", "--to", str(listing), *words])
    assert done.exit_code == 0 and "3 runs" in done.output, done.output
    lines = [json.loads(line) for line in listing.read_text().splitlines()]
    assert all(Path(line[f"{part}_path"]).exists() for line in lines for part in ("submission", "logs", "code"))
    assert CliRunner().invoke(main, ["runs", "export", "g", "--to", str(listing), *words]).exit_code == 2

    code = Path(lines[0]["code_path"])
    lines[0]["code_path"] = str(code / "solution.py")  # a file, as some of MLE-bench's lists have it
    link = tmp_path / "link.csv"
    link.symlink_to("/etc/passwd")
    lines[1]["submission_path"] = str(link)
    lines[2]["logs_path"] = str(tmp_path / "nothing")
    listing.write_text("".join(json.dumps(line) + "\n" for line in lines))
    reports = json.loads((theirs / "2024-10-02_grading_report.json").read_text())["competition_reports"]
    graded = next(each for each in reports if each["competition_id"] == lines[0]["competition_id"])
    graded["submission_path"] = lines[0]["submission_path"]
    (tmp_path / "reports.json").write_text(json.dumps({"competition_reports": [graded]}))
    words += ["--grading-reports", str(tmp_path / "reports.json")]
    done = CliRunner().invoke(main, ["runs", "import", str(listing), *words])
    assert done.exit_code == 0 and "3 runs, 2 of them without a grade" in done.output, done.output
    assert "link.csv is missing, or no regular file" in done.output and "nothing is missing" in done.output
    first = next(
        run for run in load_group(tmp_path / "runs" / "again") if run.competition == lines[0]["competition_id"]
    )
    assert first.state == "graded" and (first.folder / "code" / "solution.py").read_text().startswith("code/")
    assert (
        first.submission is not None and first.submission.read_text() == Path(lines[0]["submission_path"]).read_text()
    )
    judged = CliRunner().invoke(main, ["detect", "again", *words[:2], "--detector", "leaks", "--json"])
    assert judged.exit_code in (0, 1, 3) and len(json.loads(judged.stdout)) == 3, judged.output
