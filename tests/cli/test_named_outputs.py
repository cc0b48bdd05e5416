"""What a command was asked to write is whole or absent, and a place that cannot take it is an error that says so."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.errors import UsageError
from mlecore.util import files
from mlecore_testing import drawn_groups

COMMANDS = [
    ("new", "competition", "zz", "--into", "{to}"),
    ("runs", "export", "g", "--to", "{to}/b.zip"),
    ("runs", "export", "g", "--to", "{to}/b.jsonl"),
    ("view", "--static", "{to}/site"),
    ("report", "g", "--output", "{to}/page.html"),
]


@contextmanager
def room(size: int) -> Iterator[None]:
    """No file can have more bytes: a full disk that needs no root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    sys.dont_write_bytecode = True  # Python would leave half of a compiled module
    try:
        yield
    finally:
        sys.dont_write_bytecode = False
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:3]))
def test_a_full_disk_and_a_place_below_a_file(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn_groups.write_group(tmp_path / "runs", "g", competitions=["leaf-classification"], seeds=2)
    monkeypatch.setenv("MLECORE_RUNS", str(tmp_path / "runs"))
    (there := tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    with room(300):
        full = CliRunner().invoke(main, [word.format(to=there) for word in words])
    assert full.exit_code == 2 and "cannot be written: File too large" in full.output, full.output
    assert not list(there.iterdir())
    below = CliRunner().invoke(main, [word.format(to=tmp_path / "file") for word in words])
    assert below.exit_code == 2 and str(tmp_path / "file") in below.output, below.output
    assert CliRunner().invoke(main, [word.format(to=there) for word in words]).exit_code == 0


def test_an_earlier_file_stays_until_the_new_one_is_complete(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    (link := tmp_path / "link").symlink_to("old")
    with pytest.raises(UsageError, match="link cannot be written"), files.output(link) as new:
        new.write_text("half")
        raise OSError(28, "No space left on device")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["link", "old"] and link.read_text() == "old"
    with files.output(link) as new:
        new.write_text("new")
    assert link.is_symlink() and (tmp_path / "old").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    with files.output(Path("/dev/null")) as new:
        new.write_text("x")
    assert Path("/dev/null").is_char_device()
