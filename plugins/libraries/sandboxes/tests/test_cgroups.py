"""Which cgroup a job gets, on a pretended hierarchy and, where there is one, on a real one."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlecore.model.backends import Resources
from mlecore_jobs.supervise import cgroups
from mlecore_jobs.supervise.cgroups import Group, Kills, mount_point, parent
from mlecore_sandboxes.machine import Machine


def write(path: Path, controllers: str, passed: str, procs: str = "", **more: str) -> None:
    """A pretended group. All but the machine's root have a type."""
    path.mkdir(exist_ok=True)
    (path / "cgroup.controllers").write_text(controllers + "\n")
    (path / "cgroup.subtree_control").write_text(passed + "\n")
    (path / "cgroup.procs").write_text(procs)
    (path / "cgroup.type").write_text("domain\n")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write(tmp_path, "cpu memory pids", "cpu memory pids", "1\n")
    (tmp_path / "cgroup.type").unlink()
    write(tmp_path / "user", "cpu memory pids", "memory pids")
    write(tmp_path / "user/scope", "memory pids", "", "77\n")
    write(tmp_path / "plain", "hugetlb", "")
    return tmp_path


def test_the_nearest_group_that_passes_limits_on(tree: Path) -> None:
    assert parent(str(tree), "/user") == str(tree / "user")
    assert parent(str(tree), "/user/scope") == str(tree / "user")  # the scope has processes, and is not ours
    (tree / "user/scope/cgroup.procs").write_text("")
    assert parent(str(tree), "/user/scope") == str(tree / "user/scope")
    assert (tree / "user/scope/cgroup.subtree_control").read_text() == "\n"  # looking changes nothing


def test_a_delegated_group_is_ours_even_with_other_processes_in_it(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = {(str(tree / "user/scope"), "user.delegate"): b"1"}

    def getxattr(path: str, name: str) -> bytes:
        if (path, name) not in marks:
            raise OSError(61, "No data available")
        return marks[path, name]

    monkeypatch.setattr(os, "getxattr", getxattr)
    assert parent(str(tree), "/user/scope") == str(tree / "user/scope")


def test_limits_are_written(tree: Path) -> None:
    (tree / "mlecore-j").mkdir()
    for name in ("memory.swap.max", "cpu.max"):
        (tree / "mlecore-j" / name).touch()
    folder = Path(Group.make(str(tree), "j", 1000, 1.5, 40).path)
    assert (folder / "memory.max").read_text() == "1000"
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "cpu.max").read_text() == "150000 100000"
    assert (folder / "pids.max").read_text() == "40"


@pytest.mark.parametrize(
    ("events", "kills"),
    [
        ("", Kills()),
        ("low 0\noom 0\noom_kill 0\noom_group_kill 0\n", Kills()),
        ("low 0\noom 3\noom_kill 2\n", Kills(by_limit=2)),
        ("low 0\noom 0\noom_kill 1\n", Kills(by_machine=1)),
    ],
)
def test_kills_are_the_group_s_own(tree: Path, events: str, kills: Kills) -> None:
    if events:
        (tree / "memory.events").write_text(events)
    assert vars(Group(str(tree)).kills()) == vars(kills)


# ---------------------------------------------------------------- what is said of it


@pytest.fixture
def usable(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def set_(*controllers: str) -> None:
        found = ("/sys/fs/cgroup/x", controllers) if controllers else None
        monkeypatch.setattr(cgroups, "usable", lambda: found)

    return set_


def test_a_limit_that_is_only_watched_is_reported_before_the_start(state: Path, usable: Callable[..., None]) -> None:
    def said(*requested: Resources) -> str:
        return " ".join(
            one.description
            for one in Machine({}).preflight(requested)
            if "watched" in one.description and not one.fatal
        )

    usable()
    assert "memory and cpus" in said()  # doctor asks without requested
    assert said(Resources()) == ""
    assert "of memory is only watched" in said(Resources(memory=1 << 20))
    usable("cpu", "memory", "pids")
    assert said(Resources(memory=1 << 20, cpus=1)) == ""


# ---------------------------------------------------------------- a real hierarchy


@pytest.fixture
def real() -> Iterator[Path]:
    """A group of the machine's own v2 hierarchy, whatever controllers that has."""
    root = mount_point()
    if root is None or os.geteuid() != 0:
        pytest.skip("cgroup v2 is not mounted here, or we are not root")
    path = Path(root) / f"mlecore-test-{uuid.uuid4().hex[:8]}"
    try:
        path.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made here: {error}")
    yield path
    for folder in (*path.glob("*/"), path):
        folder.rmdir()


def test_processes_move_down_and_a_group_is_ended(real: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as child, subprocess.Popen(["sleep", "60"]) as other:
        (real / "cgroup.procs").write_text(str(child.pid))
        cgroups._move_down(str(real))
        assert (real / "cgroup.procs").read_text() == ""
        assert (real / cgroups.OURS / "cgroup.procs").read_text() == f"{child.pid}\n"
        group = Group(str(real / "mlecore-j"))
        Path(group.path).mkdir()
        (Path(group.path) / "cgroup.procs").write_text(str(other.pid))
        group.remove()
        assert not Path(group.path).exists() and other.wait(60) == -9
        child.kill()
