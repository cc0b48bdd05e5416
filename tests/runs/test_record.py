"""run.json as a value: there and back, and every damage told in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from mlecore.agents import Usage
from mlecore.backends import Handle
from mlecore.runs.record import Attempt, Collected, Limits, PluginUse, RecordError, RunRecord
from mlecore.runs.store import parse_record

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
    hardware={"cpus": 2, "gpus": [{"name": "x"}]},
)


def test_there_and_back():
    assert parse_record(FULL.dumps(), FULL.folder) == FULL


def test_what_a_newer_version_wrote_is_kept():
    data = json.loads(FULL.dumps())
    data["planet"] = "earth"
    data["attempts"][0]["mood"] = data["limits"]["tpus"] = data["agent"]["x"] = 1
    record = RunRecord.from_json(data, FULL.folder)
    assert record == evolve(FULL, extra={"planet": "earth"})
    assert json.loads(record.dumps())["planet"] == "earth"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read"),
        (b'{"format": 1, "uid"', "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"[]", "not a JSON object"),
        (b"{}", "no format number"),
        (b'{"format": 99}', "newer mlecore"),
        (b'{"format": 1}', "missing"),
        (b"[" * 100_000, "cannot be read"),
        (b" " * 2**25, "bytes"),
    ],
)
def test_damage_is_told(content, words):
    with pytest.raises(RecordError, match=words) as caught:
        parse_record(content, FULL.folder)
    assert "n/run.json" in str(caught.value)


@pytest.mark.parametrize(
    "edit",
    [
        {"state": "happy"},
        {"ended": "gladly"},
        {"seed": "3"},
        {"seed": True},
        {"attempts": {}},
        {"attempts": [{}]},
        {"attempts": [{"k": "1", "job": "j"}]},
        {"attempts": ["x"]},
        {"agent": []},
        {"limits": 3},
        {"uid": 5},
    ],
)
def test_edited_by_hand(edit):
    with pytest.raises(RecordError):
        RunRecord.from_json({**FULL.to_json(), **edit}, FULL.folder)
