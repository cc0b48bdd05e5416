"""Values of the backends' contract survive the way to another machine; no others are created from what arrives."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest
from mle_backend_vm import packing

from mlecore.agents import Recipe
from mlecore.backends import Dataset, Enforcement, Fetched, Handle, Image, Job, JobStatus, Resources, Sandbox
from mlecore.model_access import ModelAccess

HANDLE = Handle(name="mle-1", id="gpu1:/jobs/mle-1")
VALUES = [
    None,
    {HANDLE: JobStatus(phase="exited", exit_code=1, seconds=2.5)},
    Recipe(pip=("numpy",), files={"/opt/x": b"\x00\xff"}),
    Fetched(files=1, bytes=2, refused=("a: b",)),
    Sandbox(isolation=None, user="agent", **dict.fromkeys(("time", "cpus", "memory"), Enforcement(level="watched")),
            **dict.fromkeys(("processes", "disk", "network"), Enforcement(level="absent"))),
    Job(
        name="mle-1",
        group="g",
        image=Image(ref="", digest="d"),
        dataset=Dataset(competition="c", edition="v1", public=Path("/data"), digest="d"),
        data="/data",
        argv=("sh", "-c", "echo ü"),
        tools={"init": Path("0")},
        files={"note": b"\x80"},
        resources=Resources(model=ModelAccess(endpoint="http://x", spent={"usd": 0.5})),
    ),
    [PurePosixPath("a"), ("b", 1.5, True)],
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_come_out_as_they_went_in(value: object) -> None:
    back = packing.unpack(json.loads(json.dumps(packing.pack(value))))
    assert back == value
    assert type(back) is type(value)


def test_only_values_of_the_contract_are_made() -> None:
    with pytest.raises(TypeError, match="Popen"):
        packing.pack(type("Popen", (), {})())
    with pytest.raises(KeyError):
        packing.unpack({"is": "Popen", "has": {"args": "id"}})
