"""Detectors judge each run once it is graded, in separate processes, and harm nothing when they fail."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner
from mle_ext_report.graded import read_graded
from mle_ext_report.sections import sections
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise

from mlecore.cli import main
from mlecore.controller.api import run_group
from mlecore.data.layout import DataDirs
from mlecore.detecting.judging import Dismissed, Judges
from mlecore.detecting.ready import ready
from mlecore.detecting.view import unavailable
from mlecore.errors import UsageError
from mlecore.model.findings import Findings
from mlecore.runs.findings import read_findings
from mlecore.runs.planning import make_plan
from mlecore.runs.store import load_group


def found(folder: Path, run: str, detector: str = "judge") -> Findings:
    record = next(record for record in load_group(folder) if record.name == run)
    return read_findings(record)[0][detector]


def judged(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def judging(lab: Any, tmp_path: Path) -> Any:
    """A lab whose runs are judged; ``log`` gets a line for each."""
    lab.log = tmp_path / "judged.log"
    lab.detectors = (ready("judge", {"log": str(lab.log)}),)
    return lab


def test_every_run_is_judged_and_those_that_are_compared_once_more_at_the_end(judging: Any) -> None:
    group = judging.make(("worker", {}), seeds=3)
    assert judging.run().complete
    outcomes = {n: found(group.folder, f"worker--coins--{n}") for n in range(3)}
    assert [each.outcome for each in outcomes.values()] == ["suspicious", "clean", "suspicious"]
    first = outcomes[0].findings[0]
    assert (first.summary, first.details) == ("the same as worker--coins--2", {"competition": "coins", "public": True})
    assert outcomes[0].settings == {"compared": 2} and outcomes[0].detector.options["how"] == "well"
    assert len({each.group for each in outcomes.values()}) == 1
    assert len(judged(judging.log)) in (4, 5)  # the last run to be graded has seen all others
    assert any("the same as worker--coins--2" in line for line in judging.display.said)
    before = judged(judging.log)
    assert judging.run().complete and judged(judging.log) == before  # nothing is missing any more


def test_a_sandbox_that_failed_at_its_start_is_started_once_more(judging: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = iter([("/bin/false",)])
    monkeypatch.setattr("mlecore.detecting.judging.through", lambda data, group: next(commands, ()))
    group = judging.make(("worker", {}))
    assert judging.run().complete
    assert found(group.folder, "worker--coins--0").outcome == "clean"
    assert judged(judging.log) == ["worker--coins--0 1"]


def test_what_a_killed_controller_left_unjudged_is_judged(judging: Any) -> None:
    group = judging.make(("worker", {}), seeds=2)
    detectors, judging.detectors = judging.detectors, ()
    assert judging.run().complete
    assert judged(judging.log) == []
    judging.detectors = detectors
    assert judging.run().complete
    assert sorted(judged(judging.log)) == ["worker--coins--0 2", "worker--coins--1 2"]
    findings = group.folder / "worker--coins--0" / "findings" / "judge.json"
    findings.write_text("{")  # torn
    assert judging.run().complete
    assert judged(judging.log)[2:] == ["worker--coins--0 2"] and json.loads(findings.read_text())["findings"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("raises", "its hook detect failed: ValueError: a bug"),
        ("dies", "ended without a result (exit code 7)"),
        ("hangs", "more than its limit of 1 s"),
        ("eats", "took more than its memory limit of 1 GB"),
    ],
)
def test_a_detector_that_fails_is_reported_as_failed(lab: Any, how: str, words: str) -> None:
    judge = ready("judge", {"how": how})
    declared = evolve(judge.detector, seconds=1.0 if how == "hangs" else 60.0, memory_gb=1.0)
    lab.detectors = (evolve(judge, detector=declared),)
    group = lab.make(("worker", {}), seeds=2)
    assert lab.run().complete  # and no run is affected
    for name in ("worker--coins--0", "worker--coins--1"):
        each = found(group.folder, name)
        assert words in each.failed and each.outcome == "failed"
    graded = [read_graded(record) for record in load_group(group.folder)]
    assert [each.judgements[0].outcome for each in graded] == ["failed", "failed"]
    assert any("detector judge failed" in line for line in lab.display.said)


def test_it_stops_with_the_controller_and_leaves_no_half_truth(lab: Any) -> None:
    lab.detectors = (ready("judge", {"how": "hangs"}),)
    group = lab.make(("worker", {}))
    run = load_group(group.folder)[0]
    lab.detectors, detectors = (), lab.detectors
    assert lab.run().complete
    run = load_group(group.folder)[0]
    judges = Judges(detectors, DataDirs(()), lambda run: None)
    threading.Timer(0.7, judges.close).start()
    with pytest.raises((Dismissed, ValueError)):
        judges.judge(run, [run])
    assert not (run.folder / "findings").exists()


def test_a_link_in_the_place_of_findings_is_not_followed(judging: Any, tmp_path: Path) -> None:
    group = judging.make(("worker", {}))
    detectors, judging.detectors = judging.detectors, ()
    judging.run()
    (group.folder / "worker--coins--0" / "findings").symlink_to(tmp_path)
    judging.detectors = detectors
    judging.run()
    assert not (tmp_path / "judge.json").exists()


@pytest.mark.sandbox
def test_it_sees_public_data_and_runs_only_and_changes_neither(
    lab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why := unavailable():
        pytest.skip(why)
    lab.make(("worker", {}))
    assert lab.run().complete
    [run] = load_group(lab.group.folder)
    folder, disk = tmp_path / "data" / "coins", tmp_path / "disk"
    shutil.copytree(lab.data / "coins", folder)
    (folder / "raw").mkdir(exist_ok=True)
    (folder / "raw" / "train.csv").touch()
    private, public = folder / "prepared" / "private", folder / "prepared" / "public"

    def could(answers: Path) -> set[str]:
        peeking = ready("judge", {"how": "peeks", "answers": str(answers)})
        with Judges((peeking,), DataDirs((tmp_path / "data",)), lambda run: public) as judges:
            return set(judges.judge(run, [run])[0].settings["could"])

    may = {"open public data", "open a run", "open temporary files"}
    assert could(private) == may
    shutil.move(private, disk)  # answers on another disk
    private.symlink_to(disk)
    assert could(private) == may and "open answers" not in could(disk)
    monkeypatch.setattr("mlecore.detecting.view.unavailable", lambda: "not here")
    assert could(private) - may == {
        *("open answers", "open answers by another process", "open raw data"),
        *("change a run", "change public data"),
    }


def test_without_bubblewrap_a_warning_says_that_answers_can_be_seen(
    detect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlecore.detecting.ready.unavailable", lambda: "bubblewrap (bwrap) is not installed")
    monkeypatch.setattr("mlecore.detecting.view.unavailable", lambda: "bubblewrap (bwrap) is not installed")
    code, output = detect("--detector", "judge")
    assert code == 1 and "they can read the answers: bubblewrap (bwrap) is not installed" in output


@pytest.fixture
def detect(lab: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`mlecore detect` on the lab's group."""
    group = lab.make(("worker", {}), seeds=3)
    assert lab.run().complete

    def call(*more: str, name: str = "g") -> tuple[int, str]:
        where = ["--runs", str(group.folder.parent), "--data", str(lab.data)]
        result = CliRunner().invoke(main, ["detect", name, *where, *more])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout if "--json" in more else result.output

    return call


def test_the_verb(detect: Any, lab: Any) -> None:
    code, output = detect("--detector", "judge")
    assert code == 1
    assert "judge     3     1      0     0          0       2" in output
    assert "worker--coins--0: judge: suspicious (75% sure): same-submission: the same as worker--coins--2" in output
    assert "submission/submission.csv:1: 'id,'" in output
    code, output = detect("--detector", "judge", "--json", name="g/worker--coins--1")
    assert code == 0 and [(each["name"], each["outcome"]) for each in json.loads(output)] == [
        ("worker--coins--1", "clean")
    ]
    code, output = detect("--detector", "judge", "-D", "how=raises")
    assert code == 3 and "failed: detector judge: its hook detect failed" in output


@pytest.mark.parametrize(
    ("how", "code", "outcome", "shown", "listed"),
    [
        ("notes", 0, "note", "note: copied: it looked at it", ("note", "copied", "it looked at it")),
        ("undecided", 3, "undecided", "undecided: copied", ("undecided", "copied", "it looked at it")),
        ("skips", 3, "undecided", "not read: code/a.py: it has 5 GB", ("undecided", "", "not read: code/a.py (it has")),
    ],
)
def test_what_is_neither_clean_nor_flagged(
    detect: Any, lab: Any, how: str, code: int, outcome: str, shown: str, listed: tuple[str, str, str]
) -> None:
    """It goes through the findings file, `detect` and reports; only flags count as failures."""
    given, output = detect("--detector", "judge", "-D", f"how={how}")
    assert given == code and f"worker--coins--0: judge: {shown}" in output
    [setup] = summarise(read_sources(["g"], [], lab.runs)).setups
    assert setup.flagged == 0 and all(rates.without_flagged is None for rates in setup.rates)
    assert [line.judged for line in setup.runs] == [{"judge": outcome}] * 3
    verdict, rule, words = listed
    for line in setup.runs:
        [remark] = line.remarks
        assert (remark.verdict, remark.rule, line.suspicions) == (verdict, rule, ()) and words in remark.summary
    page = " ".join(
        cell
        for section in sections(summarise(read_sources(["g"], [], lab.runs)))
        for row in (*section.rows, section.notes)
        for cell in row
    )
    assert ("not known to be clean" in page) == (outcome == "undecided") and words in page
    assert "flagged" not in page


def test_a_group_from_elsewhere_is_not_written_to(detect: Any, lab: Any) -> None:
    assert lab.group
    lab.group.folder.rename(lab.group.folder.with_name("moved"))
    code, output = detect("--detector", "judge", name="moved")
    assert code == 2 and "mlecore runs adopt moved" in output


def test_a_plan_says_whether_and_how(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "agents": [{"name": "worker"}],
        "competitions": ["coins"],
        "backend": {"name": "folders", "options": {"root": str(lab.backend_root)}},
        "execution": {"detectors": {"judge": {"how": "raises"}}},
    }
    done = run_group(make_plan(values), "g", lab.runs, [lab.data])
    assert "a bug" in found(done.group.folder, "worker--coins--0").failed
    values["execution"] = {"detectors": {"judge": {"colour": "red"}}}
    with pytest.raises(UsageError, match="no option 'colour'"):
        run_group(make_plan(values), "i", lab.runs, [lab.data])
    assert not (lab.runs / "i").exists()
