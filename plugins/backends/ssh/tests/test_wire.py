"""What controller and host say to each other: what is no answer is noticed."""

from __future__ import annotations

import io

import pytest
from mle_backend_ssh.remote import wire

from mlecore.errors import BackendError, BackendUnreachable, ImageGone, MlecoreError


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
