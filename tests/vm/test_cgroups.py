"""Which cgroup a job gets, on a pretended hierarchy; what the files of a real one do is the kernel's business."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore.vm.supervise.cgroups import Group, parent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path, controllers, passed in (
        ("", "cpu memory pids", "cpu memory pids"),
        ("user", "cpu memory pids", "memory pids"),
        ("user/scope", "memory pids", ""),
        ("plain", "hugetlb", ""),
    ):
        (tmp_path / path).mkdir(exist_ok=True)
        (tmp_path / path / "cgroup.controllers").write_text(controllers + "\n")
        (tmp_path / path / "cgroup.subtree_control").write_text(passed + "\n")
    return tmp_path


def test_the_nearest_group_that_passes_limits_on(tree: Path) -> None:
    assert parent(str(tree), "/user/scope") == str(tree / "user/scope")  # it takes what is written
    assert "+memory" in (tree / "user/scope/cgroup.subtree_control").read_text()
    assert parent(str(tree), "/user") == str(tree / "user")


def test_a_group_without_the_controllers_is_passed_over(tree: Path) -> None:
    assert parent(str(tree), "/plain") == str(tree)
    (tree / "cgroup.subtree_control").write_text("\n")
    (tree / "cgroup.controllers").write_text("hugetlb\n")
    assert parent(str(tree), "/plain") is None


def test_limits_are_written(tree: Path) -> None:
    (tree / "mlecore-j").mkdir()
    for name in ("memory.swap.max", "cpu.max"):
        (tree / "mlecore-j" / name).touch()
    group = Group.make(str(tree), "j", 1000, 1.5, 40)
    assert group is not None
    folder = Path(group.path)
    assert (folder / "memory.max").read_text() == "1000"
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "cpu.max").read_text() == "150000 100000"
    assert (folder / "pids.max").read_text() == "40"


def test_kills_are_counted(tree: Path) -> None:
    group = Group(str(tree))
    assert group.oom_kills() == 0
    (tree / "memory.events").write_text("low 0\noom 3\noom_kill 2\noom_group_kill 0\n")
    assert group.oom_kills() == 2


def test_no_group_where_none_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert Group.make(str(tmp_path / "file"), "j", None, None, 10) is None
