"""What was read is kept, and a look reads what has changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import groups_on_disk
import pytest
from attrs import evolve
from mle_ext_view import catalogue
from mle_ext_view.catalogue import Catalogue
from mle_ext_view.places import Missing

from mlecore.runs.store import read_record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    groups_on_disk.write_finished(tmp_path)
    return tmp_path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the runs that are read."""
    found: list[str] = []
    read = catalogue.read_row

    def counted(path: Path):
        found.append(path.name)
        return read(path)

    monkeypatch.setattr(catalogue, "read_row", counted)
    return found


def test_only_what_changed_is_read_again(folder: Path, reads: list[str]) -> None:
    group = Catalogue(folder).group("finished").look()
    assert len(reads) == 8
    version = group.version
    group.look()
    assert len(reads) == 8 and group.version == version
    record = read_record(folder / "finished" / "alpha--optical-digits--1")
    groups_on_disk.write(evolve(record, state="failed", reason="why"))
    group.look()
    assert reads[8:] == ["alpha--optical-digits--1"]
    assert group.version > version and group.states == {"graded": 7, "failed": 1}


def test_what_is_gone_is_planned_again(folder: Path) -> None:
    group = Catalogue(folder).group("finished").look()
    shutil.rmtree(folder / "finished" / "beta--optical-digits--0")
    assert group.look().states == {"planned": 1, "graded": 7}
    assert group.row("beta--optical-digits--0").record.state == "planned"
    with pytest.raises(Missing):
        group.row("nobody")


def test_a_copied_run_is_no_run_of_the_group(folder: Path) -> None:
    shutil.copytree(folder / "finished" / "alpha--optical-digits--0", folder / "finished" / "copy")
    groups_on_disk.write_working(folder)
    foreign = folder / "working" / "alpha--optical-digits--0"
    shutil.rmtree(foreign)
    shutil.copytree(folder / "finished" / "alpha--optical-digits--0", foreign)
    problems = [problem for group in Catalogue(folder).look() for problem in group.problems]
    assert sorted(problems) == [
        "alpha--optical-digits--0: it belongs to another group (finished)",
        "copy: it is a copy of the run alpha--optical-digits--0",
    ]
