"""Public data arrive once, whoever sends them: nobody waits long for a controller whose link was cut."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mle_backend_ssh.remote import wire

CONTENT = bytes(range(256)) * 1000
PROGRAM = """
import sys
from pathlib import Path
from mle_backend_ssh.remote import receive
receive._SILENCE, receive._TURN = 1, 0.1
print(receive.receive(sys.stdin.buffer, sys.stdout.buffer, Path(sys.argv[1]), "c"))
"""


class Controller:
    """What sends; the program at the other end is a process of this machine."""

    def __init__(self, root: Path) -> None:
        self.there = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.there.stdin and self.there.stdout
        self.given, self.out = self.there.stdin, self.there.stdout
        self.waited = 0

    def read(self) -> dict[str, object]:
        while (head := wire.read(self.out)[0])["kind"] == "waiting":
            self.waited += 1
        return head

    def send_list(self) -> dict[str, object]:
        """The first line of the answer to it."""
        digest = hashlib.sha256(CONTENT).hexdigest()
        wire.write(self.given, {"path": "train.bin", "bytes": len(CONTENT), "sha256": digest})
        wire.write(self.given, {})
        return self.read()

    def send(self, first: int, last: int) -> None:
        self.given.write(CONTENT[first:last])
        self.given.flush()

    def close(self) -> None:
        self.there.kill()
        self.there.wait()
        for stream in (self.given, self.out):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Callable[[], Controller]]:
    made: list[Controller] = []

    def controller() -> Controller:
        made.append(Controller(tmp_path))
        return made[-1]

    yield controller
    for each in made:
        each.close()


def test_a_silent_transfer_is_taken_over_where_it_stopped(connect: Callable[[], Controller], tmp_path: Path) -> None:
    cut, other = connect(), connect()
    assert cut.read() == other.read() == {"kind": "send the list"}
    assert cut.send_list() == {"kind": "want", "number": 0, "from": 0}
    assert cut.read() == {"kind": "wanted"}
    cut.send(0, 100_000)  # and no more, without the connection ending
    limit = time.monotonic() + 120
    while sum(path.stat().st_size for path in tmp_path.rglob("train.bin*")) < 100_000 - 8192:
        assert time.monotonic() < limit
        time.sleep(0.02)
    wanted = other.send_list()
    offset = wanted["from"]
    assert other.waited and isinstance(offset, int) and 100_000 - 8192 <= offset <= 100_000
    other.read()
    other.send(offset, len(CONTENT))
    other.given.close()
    assert (Path(other.out.read().decode().strip()) / "train.bin").read_bytes() == CONTENT


def test_a_controller_that_still_counts_its_files_holds_up_nobody(connect: Callable[[], Controller]) -> None:
    counts, other = connect(), connect()
    assert counts.read() == other.read() == {"kind": "send the list"}
    assert other.send_list()["kind"] == "want"
    other.read()
    other.send(0, len(CONTENT))
    other.there.wait(300)
    assert counts.send_list() == {"kind": "wanted"}  # nothing is left to send
    assert counts.there.wait(300) == 0
