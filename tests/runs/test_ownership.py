"""A group from elsewhere is only looked at until somebody adopts it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mlecore.errors import DataError, UsageError
from mlecore.runs import ownership, seals
from mlecore.runs.planning import parse_plan
from mlecore.runs.store import Group, create_group, open_group

PLAN = parse_plan('competitions = ["coins"]\n[[agents]]\nname = "a"\n')


@pytest.fixture
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Group:
    monkeypatch.setenv("MLECORE_STATE", str(tmp_path / "state"))
    return create_group(tmp_path / "runs", "g", PLAN)


def test_what_was_made_here_is_ones_own(group):
    ownership.require_own(open_group(group.folder))
    assert (seals.state_folder() / "key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("how", ["copied", "moved", "another user's", "edited", "without a seal"])
def test_what_was_not_is_read_only_until_adopted(group, tmp_path, monkeypatch, how):
    folder = group.folder
    if how == "copied":
        folder = Path(shutil.copytree(folder, tmp_path / "copy"))
    elif how == "moved":
        folder = folder.rename(tmp_path / "moved")
    elif how == "another user's":
        monkeypatch.setenv("MLECORE_STATE", str(tmp_path / "other"))
    else:
        path = folder / "group.json"
        values = json.loads(path.read_text())
        values |= {"uid": "0" * 16} if how == "edited" else {"seal": ""}
        path.write_text(json.dumps(values))
    with pytest.raises(UsageError, match="read-only") as caught:
        ownership.require_own(open_group(folder))
    assert f"mlecore runs adopt {folder.name}" in str(caught.value)
    ownership.adopt(open_group(folder))
    ownership.require_own(open_group(folder))


def test_a_key_that_cannot_be_kept_is_named(group, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MLECORE_STATE", str(tmp_path / "file" / "state"))
    with pytest.raises(DataError, match="Set MLECORE_STATE"):
        ownership.is_own(group)
    monkeypatch.setenv("MLECORE_STATE", str(tmp_path / "state"))
    (tmp_path / "state" / "key").write_bytes(b"short")
    with pytest.raises(DataError, match="damaged"):
        ownership.is_own(group)
