"""What controller and host say to each other: what is no answer is noticed."""

from __future__ import annotations

import io

import pytest
from mle_backend_ssh.remote import wire


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
