"""Obfuscated data are kept while a group needs them, and are leftovers then."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from mle_ext_obfuscation.uses import leftovers_of, note_use, uses
from mle_ext_setup.examination import examine as doctor

from mlecore.data.cleanup import leftovers
from mlecore.data.layout import OBFUSCATED, DataDirs


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Obfuscated data of some time ago."""
    folder = tmp_path / "data" / OBFUSCATED / "task-0"
    (folder / "public").mkdir(parents=True)
    return folder


def grown_old(root: Path) -> None:
    os.utime(root, (time.time() - 7200,) * 2)


def test_data_without_a_group_are_a_leftover_unless_they_are_fresh(root: Path, tmp_path: Path) -> None:
    assert [each.needed for each in uses(tmp_path / "data")] == [True]
    grown_old(root)
    note_use(root, "coins", tmp_path / "a group that was removed")
    grown_old(root)
    assert not [left for left in leftovers(tmp_path / "data") if OBFUSCATED in left.path.parts]
    found = next(each for each in doctor([], DataDirs.of([tmp_path / "data"])) if str(root) in each.what)
    assert (found.state, found.fix) == ("warning", "mlecore doctor --clean")
    (left,) = leftovers_of(tmp_path / "data")
    assert left.path == root and not left.needed and "needed by no group: obfuscated data of coins" in left.why
    left.remove()
    assert not root.exists()


def test_a_group_that_cannot_be_read_keeps_its_data(root: Path, tmp_path: Path) -> None:
    (group := tmp_path / "group").mkdir()
    (group / "group.json").write_text("torn")
    (group / "plan.toml").write_text("torn")
    for _ in range(2):
        note_use(root, "coins", group)
    grown_old(root)
    (kept,) = uses(tmp_path / "data")
    assert kept.path == root and kept.needed and kept.groups == (group,)
    (listed,) = leftovers_of(tmp_path / "data")
    assert listed.needed and listed.why == f"obfuscated data of coins, used by {group}"
    (root / "groups" / "torn.json").write_text("{")
    assert uses(tmp_path / "data") == [kept]
