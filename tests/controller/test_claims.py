"""Obfuscated data are kept while a group needs them, and are leftovers then."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mlecore.controller.claims import claim, obfuscated, unneeded
from mlecore.data.cleanup import leftovers
from mlecore.data.layout import OBFUSCATED


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Obfuscated data of some time ago."""
    folder = tmp_path / "data" / OBFUSCATED / "task-0"
    (folder / "public").mkdir(parents=True)
    return folder


def grown_old(root: Path) -> None:
    os.utime(root, (time.time() - 7200,) * 2)


def test_data_without_a_group_are_a_leftover_unless_they_are_fresh(root: Path, tmp_path: Path) -> None:
    assert [each.needed for each in obfuscated(tmp_path / "data")] == [True]
    grown_old(root)
    claim(root, "coins", tmp_path / "a group that was removed")
    grown_old(root)
    assert not [left for left in leftovers(tmp_path / "data") if OBFUSCATED in left.path.parts]
    (left,) = unneeded(tmp_path / "data")
    assert left.path == root and "needed by no group: data of coins, obfuscated" in left.why
    left.remove()
    assert not root.exists()


def test_a_group_that_cannot_be_read_keeps_its_data(root: Path, tmp_path: Path) -> None:
    (group := tmp_path / "group").mkdir()
    (group / "group.json").write_text("torn")
    (group / "plan.toml").write_text("torn")
    for _ in range(2):
        claim(root, "coins", group)
    grown_old(root)
    (kept,) = obfuscated(tmp_path / "data")
    assert kept.needed and kept.groups == (group,) and str(kept) == f"{root} (coins; used by {group})"
    (root / "groups" / "torn.json").write_text("{")
    assert obfuscated(tmp_path / "data") == [kept]
