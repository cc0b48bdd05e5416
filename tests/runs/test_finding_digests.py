"""Findings of detectors are named by the run's record, so that none is changed, removed or added unseen."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise
from mle_ext_sharing.exporting import export_group

from mlecore.cli import main
from mlecore.model.detectors import Finding
from mlecore.model.findings import Findings
from mlecore.model.provenance import PluginUse
from mlecore.runs.digests import with_digest
from mlecore.runs.findings import read_findings, write_findings
from mlecore.runs.journal import Journal
from mlecore.runs.store import load_group, read_record, write_record
from mlecore.util import files
from mlecore_testing import drawn_groups

RUN, OTHER = "baseline--spaceship-titanic--0", "baseline--spaceship-titanic--1"
EYES = f"{RUN}/findings/eyes.json"


class Killed(BaseException):
    pass


def killed_at(step: int) -> files.Fault:
    """Before the ``step``-th operation of the disk."""
    steps = count(1)

    def fault(operation: str, path: Path) -> None:
        if next(steps) == step:
            raise Killed

    return fault


@pytest.fixture
def group(tmp_path: Path) -> Path:
    folder: Path = drawn_groups.write_group(tmp_path / "runs", "g", competitions=["spaceship-titanic"], seeds=2)
    for record in load_group(folder):
        Journal(folder).note("starting", record.name)
    return folder


def verify(path: Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["runs", "verify", str(path)])
    return result.exit_code, result.output


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def judge(group: Path, verdict: str = "violation", detector: str = "eyes") -> None:
    """Have a detector judge the run."""
    run = read_record(group / RUN)
    found = Findings(run=run.uid, detector=PluginUse(name=detector), created_at="now", seconds=1.0, group="x")
    write_findings(run, evolve(found, findings=(Finding(verdict=verdict, rule="r", summary="copied"),)))


def recount(path: Path) -> None:
    """Give a findings file the digest of its content."""
    values = json.loads(path.read_text())
    path.write_bytes(with_digest({name: value for name, value in values.items() if name != "digest"}))


def replace_by_another(path: Path) -> None:
    edit(path, '"violation"', '"clean"')
    recount(path)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda path: edit(path, '"violation"', '"clean"'), "it was changed after it was written"),
        (replace_by_another, "it was changed after it was written"),
        (lambda path: shutil.rmtree(path.parent), "it is missing, although its detector judged the run"),
        (lambda path: (path.unlink(), path.symlink_to("/etc/passwd")), "findings/eyes.json"),
    ],
)
def test_changed_and_removed_findings_are_reported_in_exports_too(group, tmp_path, how, words) -> None:
    judge(group)
    judge(group, "clean", "ears")
    assert verify(group)[0] == 0
    how(group / EYES)
    code, output = verify(group)
    assert code == 1 and "findings/eyes.json" in output and words in output and f"{OTHER}: " not in output, output
    [setup] = summarise(read_sources([str(group)], [], group.parent)).setups
    assert setup.flagged == 1 and setup.runs[0].judged["eyes"] == "failed"
    export_group(group, tmp_path / "b.zip")
    code, output = verify(tmp_path / "b.zip")
    assert code == 1 and "findings/eyes.json: it is missing" in output, output


def test_findings_that_no_record_names_are_reported(group) -> None:
    """Someone else's clean ones, put where no detector judged."""
    judge(group, "clean")
    shutil.copy(group / EYES, group / RUN / "findings" / "rules.json")
    code, output = verify(group)
    assert code == 1 and "findings/rules.json: it is not in the run's record" in output, output


def test_findings_stay_known_whoever_writes_the_record_next(group) -> None:
    """`mlecore detect` again, with another result; and a controller that read the record before."""
    before = read_record(group / RUN)
    judge(group)
    judge(group, "clean")
    named = read_record(group / RUN).digests
    assert named.findings.keys() == {"eyes"} and named.previous not in (None, before.digests.record)
    assert verify(group)[0] == 0
    later = write_record(before)
    assert later.digests.findings == named.findings and later.digests.previous == named.record
    assert verify(group)[0] == 0


def test_judging_does_not_hide_that_a_record_was_changed(group) -> None:
    edit(group / RUN / "run.json", '"seed": 0', '"seed": 7')
    edit(group / RUN / "grade.json", "0", "1")
    judge(group)
    code, output = verify(group)
    assert code == 1 and "run.json was changed" in output and "grade.json is not the one" in output, output


@pytest.mark.parametrize("first", [True, False])
def test_a_kill_between_a_finding_and_the_record_looks_like_no_change(group, first) -> None:
    """At every step of the disk; the next judging repairs what is left."""
    if not first:
        judge(group, "clean")
    copy, steps = group.with_name("copy"), count(1)
    shutil.copytree(group, copy)
    for step in steps:
        shutil.rmtree(group)
        shutil.copytree(copy, group)
        with files.faults(killed_at(step)), suppress(Killed):
            judge(group)
            break
        assert verify(group)[0] == 0, (step, verify(group))
        found, damaged = read_findings(read_record(group / RUN))
        assert not damaged and [each.outcome for each in found.values()] in ([["clean"]] * (not first) or [[]]) + [
            ["violation"]
        ]
        judge(group)
        assert verify(group)[0] == 0
    assert step > 6 and sorted(path.name for path in (group / EYES).parent.iterdir()) == ["eyes.json"]
