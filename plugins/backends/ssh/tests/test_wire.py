"""What controller and host say to each other: values survive it, and what is no answer is noticed."""

from __future__ import annotations

import io
import json
from pathlib import Path, PurePosixPath

import pytest
from mle_backend_ssh.remote import wire

from mlecore.agents import Recipe
from mlecore.backends import Dataset, Enforcement, Fetched, Handle, Image, Job, JobStatus, Resources, Sandbox
from mlecore.errors import BackendError, BackendUnreachable, ImageGone, MlecoreError
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
    back = wire.unpack(json.loads(json.dumps(wire.pack(value))))
    assert back == value
    assert type(back) is type(value)


def test_only_values_of_the_contract_are_made() -> None:
    with pytest.raises(TypeError, match="Popen"):
        wire.pack(type("Popen", (), {})())
    with pytest.raises(KeyError):
        wire.unpack({"is": "Popen", "has": {"args": "id"}})


def test_lines_carry_bytes() -> None:
    out = io.BytesIO()
    wire.write(out, {"kind": "output"}, b"two\nlines")
    wire.write(out, {"result": None})
    out.seek(0)
    assert wire.read(out) == ({"kind": "output", "size": 9}, b"two\nlines")
    assert wire.read(out) == ({"result": None}, b"")


@pytest.mark.parametrize(
    "said",
    [b"", b'{"kind": "out', b"Welcome!\n", b"[1]\n", b'{"size": 9}\nshort', b'{"size": -1}\n', b'{"size": "x"}\n'],
)
def test_what_is_no_answer_is_a_broken_connection(said: bytes) -> None:
    with pytest.raises(wire.ConnectionBroken):
        wire.read(io.BytesIO(said))


def test_what_the_shell_prints_is_skipped() -> None:
    source = io.BytesIO(b"Welcome to gpu1\n\n" + wire.GREETING + b"{}\n")
    wire.await_greeting(source)
    assert source.read() == b"{}\n"


def test_a_program_that_does_not_start_says_why() -> None:
    with pytest.raises(wire.ConnectionBroken, match="did not start: sh: python3: not found"):
        wire.await_greeting(io.BytesIO(b"Welcome\nsh: python3: not found\n"))


@pytest.mark.parametrize("kind", [BackendError, BackendUnreachable, ImageGone])
def test_errors_keep_their_kind_and_their_fix(kind: type[MlecoreError]) -> None:
    back = wire.unpack_error(wire.pack_error(kind("no disk", fix="Free some.")), "gpu1")
    assert (type(back), back.message, back.fix) == (kind, "gpu1: no disk", "Free some.")
