"""run.json as a value: there and back, and all damage named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from attrs import evolve

from mlecore.model.agents import Usage
from mlecore.model.backends import Handle, Hardware
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Attempt, Collected, Limits, RecordError, RunRecord
from mlecore.runs.store import read_record, write_record

FULL = RunRecord(
    uid="u",
    name="n",
    group="g",
    group_uid="gu",
    folder=Path("x/n"),
    competition="coins",
    agent=PluginUse(name="a", version="1", source="s", options={"x": "1"}),
    backend=PluginUse(name="b"),
    seed=3,
    limits=Limits(time=1.5, allow=("h:1",)),
    state="running",
    ended="crashed",
    attempts=(
        Attempt(number=1, job="j", handle=Handle(name="j", id="i"), infra_failure=True),
        Attempt(number=2, job="j2"),
    ),
    plugins=(PluginUse(name="mlecore"),),
    usage=Usage(models=("m",), cost_usd=0.5),
    collected=Collected(files=2, refused=("a: b",)),
    candidates=("submission/submission.csv", "x/*.csv"),
    hardware=Hardware(cpus=2, gpus=("x",)),
)


def test_there_and_back(tmp_path):
    record = evolve(FULL, folder=tmp_path)
    write_record(record)
    assert read_record(tmp_path) == record


def test_what_a_newer_version_wrote_is_kept_and_written_again():
    data = json.loads(FULL.dumps())
    data["planet"] = {"name": "earth"}
    data["attempts"][1]["mood"] = data["limits"]["tpus"] = data["agent"]["x"] = 1
    record = RunRecord.from_json(data, FULL.folder)
    assert evolve(record, extra={}) == FULL
    assert json.loads(record.dumps()) == data
    later = json.loads(evolve(record, state="collected").with_attempt(exit_code=3).dumps())
    assert later["attempts"][1] == data["attempts"][1] | {"exit_code": 3} and later["state"] == "collected"
    assert json.loads(evolve(record, attempts=()).dumps())["attempts"] == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"format": 1, "uid"', "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "no format number"),
        (b'{"format": 99}', "newer mlecore"),
        (b'{"format": 1}', "uid is missing; name is missing; group is missing; and 4 more"),
        pytest.param(b"[" * 100_000, "nested too deep", id="deep"),
        pytest.param(b'{"format": ' + b"1" * 5000 + b"}", "not JSON", id="long number"),
        pytest.param(b" " * 2**25, "bytes", id="large"),
    ],
)
def test_damage_is_named(content, words, tmp_path):
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(RecordError, match=words) as caught:
        read_record(tmp_path)
    assert str(tmp_path / "run.json") in str(caught.value)


def test_what_is_no_file_is_damage_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(RecordError, match="not a regular file"):
        read_record(tmp_path)
    (tmp_path / "run.json").unlink()
    (tmp_path / "run.json").mkdir()
    with pytest.raises(RecordError, match="not a regular file"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    "edit",
    [
        {"state": "happy"},
        {"seed": True},
        {"attempts": [{}]},
        {"attempts": [{"number": "1", "job": "j"}]},
        {"candidates": "submission.csv"},
        {"uid": 5},
    ],
)
def test_edited_by_hand(edit):
    with pytest.raises(RecordError, match=next(iter(edit))):
        RunRecord.from_json({**FULL.to_json(), **edit}, FULL.folder)


def test_any_change_of_a_record_shows(tmp_path):
    write_record(evolve(FULL, folder=tmp_path))
    path = tmp_path / "run.json"
    whole = path.read_bytes()
    own = json.loads(whole)["digests"]["record"].encode()
    for changed in (
        whole + b"\n",
        whole.replace(own, b""),
        whole.replace(own, b"0" * 64),
        whole.replace(b"3", b"4", 1),
    ):
        path.write_bytes(changed)
        assert read_record(tmp_path).altered
