"""Files that an agent left are taken in within limits, under safe names, whole or not at all."""

from __future__ import annotations

import errno
import io
from pathlib import Path, PurePosixPath

import pytest

from mlecore.errors import DiskError
from mlecore.util.globs import Glob
from mlecore.util.printable import printable
from mlecore_jobs import fetching
from mlecore_jobs.fetching import RELAY_LOG, Receiver


@pytest.fixture
def receiver(tmp_path: Path) -> Receiver:
    return Receiver(tmp_path / "into", max_bytes=10, max_files=3)


def put(receiver: Receiver, path: str, content: bytes = b"x", size: int | None = None) -> None:
    receiver.take(PurePosixPath(path), len(content) if size is None else size, io.BytesIO(content))


def there(receiver: Receiver) -> dict[str, bytes]:
    found = (path for path in receiver.into.rglob("*") if path.is_file())
    return {path.relative_to(receiver.into).as_posix(): path.read_bytes() for path in found}


def test_what_does_not_fit_is_refused_and_the_next_may_come(receiver: Receiver) -> None:
    put(receiver, "logs/a", b"12345678")
    put(receiver, "logs/b", b"123")
    put(receiver, "c", b"12")
    fetched = receiver.fetched()
    assert there(receiver) == {"logs/a": b"12345678", "c": b"12"}
    assert (fetched.files, fetched.bytes, fetched.complete) == (2, 10, False)
    assert fetched.refused == ("logs/b: 3 bytes, and the limit of 10 leaves 2",)


def test_a_file_comes_once_and_data_never(receiver: Receiver) -> None:
    for path in ("a", "a", "data/train.csv", "data"):
        put(receiver, path)
    assert there(receiver) == {"a": b"x"} and receiver.fetched().refused == ()


def test_a_file_that_grows_or_shrinks_meanwhile(receiver: Receiver) -> None:
    put(receiver, "grown", b"123456", size=2)
    put(receiver, "shrunk", b"1", size=4)
    assert there(receiver) == {"grown": b"12", "shrunk": b"1"} and receiver.fetched().bytes == 3


def test_half_a_file_is_none(receiver: Receiver) -> None:
    class Torn(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise EOFError("torn")

    with pytest.raises(EOFError):
        receiver.take(PurePosixPath("a"), 3, Torn())
    assert there(receiver) == {} and receiver.fetched().files == 0


def test_names_that_cannot_be_stored_are_refused(receiver: Receiver) -> None:
    put(receiver, "a")
    for path in ("a/below", "n" * 300, "nul\0"):
        put(receiver, path)
    assert there(receiver) == {"a": b"x"} and len(receiver.fetched().refused) == 3


def test_the_relays_log_comes_whatever_the_agent_calls_so(receiver: Receiver) -> None:
    receiver.take_outside_log(RELAY_LOG, [Glob("code")], io.BytesIO(b"real"))
    assert there(receiver) == {}
    receiver.take_outside_log(RELAY_LOG, [Glob("code"), Glob("logs/*")], io.BytesIO(b"real"))
    put(receiver, str(RELAY_LOG), b"forged")
    assert there(receiver) == {str(RELAY_LOG): b"real"}


def test_a_full_disk_is_ours_not_the_agents(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fetching.os, "open", full)
    with pytest.raises(DiskError, match="No space left"):
        put(receiver, "a")


def test_a_disk_that_goes_away_is_ours_and_nothing_is_made_below_its_mount_point(
    receiver: Receiver, tmp_path: Path
) -> None:
    receiver.into.rename(tmp_path / "away")
    with pytest.raises(DiskError, match="Check that its disk"):
        put(receiver, "logs/a")
    assert not receiver.into.exists() and receiver.fetched().refused == ()
    with pytest.raises(FileNotFoundError):
        Receiver(tmp_path / "gone" / "into", 1, 1)


def test_names_upset_no_terminal() -> None:
    assert printable("a\x1b[2J\nb\udcff é") == "a\\x1b[2J\\nb\\xff é"


@pytest.mark.parametrize(
    "content",
    [bytes(3 << 20), b"a" + bytes(3 << 20) + b"b", bytes(5000) + b"x" * 9000, b""],
    ids=["a hole", "a hole within", "a short hole", "nothing"],
)
def test_what_is_sparse_stays_sparse_and_the_same(tmp_path: Path, content: bytes) -> None:
    receiver = Receiver(tmp_path / "into", max_bytes=1 << 30, max_files=3)
    put(receiver, "a", content)
    path = tmp_path / "into" / "a"
    assert path.read_bytes() == content and receiver.fetched().bytes == len(content)
    assert path.stat().st_blocks * 512 <= len(content.replace(bytes(4096), b"")) + 3 * 4096
