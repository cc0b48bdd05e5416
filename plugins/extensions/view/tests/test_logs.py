"""Logs in pieces, colours, and searches."""

from __future__ import annotations

from pathlib import Path

import pytest
from mle_ext_view import ansi, logs


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "output.log"
    path.write_bytes(b"".join(b"line %d of the log\n" % number for number in range(20_000)))
    return path


def test_pieces_from_either_side_meet_and_cover_everything(log: Path) -> None:
    with log.open("rb") as file:
        size, at, lines = log.stat().st_size, 0, []
        while at < size:
            piece = logs.piece_from(file, at)
            assert piece.start == at and piece.end > at
            lines += piece.lines
            at = piece.end
        assert lines == [f"line {number} of the log" for number in range(20_000)]
        end, back = size, []
        while end:
            piece = logs.piece_before(file, end)
            assert piece.end == end and piece.start < end
            back[:0] = piece.lines
            end = piece.start
        assert back == lines


def test_half_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    with path.open("wb") as file:
        file.truncate(500 << 20)
        file.seek(0, 2)
        file.write(b"\nthe last line\n")

    class Counting:
        def __init__(self, file) -> None:
            self.file, self.bytes = file, 0

        def __getattr__(self, name: str):
            return getattr(self.file, name)

        def read(self, count: int) -> bytes:
            self.bytes += count
            return self.file.read(count)

    with path.open("rb") as file:
        counting = Counting(file)
        assert logs.piece_before(counting, logs.size_of(file)).lines == ["the last line"]
        assert counting.bytes <= logs.PIECE


def test_search(log: Path) -> None:
    with log.open("rb") as file:
        found = logs.search(file, "line 19999")
        assert [match.text for match in found.matches] == ["line 19999 of the log"]
        assert found.searched_to == found.size
        assert logs.piece_from(file, found.matches[0].offset).lines == ["line 19999 of the log"]
        many = logs.search(file, "LOG".lower())
        assert len(many.matches) == logs.MATCHES and many.searched_to < many.size
        rest = logs.search(file, "log", many.searched_to)
        assert rest.matches[0].text == f"line {logs.MATCHES} of the log"
        assert logs.search(file, "Line 1").matches == []  # capitals matter
        assert logs.search(file, "nothing").searched_to == found.size


def test_a_word_across_two_chunks_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_CHUNK", 10)
    path = tmp_path / "output.log"
    path.write_bytes(b"12345678needle9\nneedle\n")
    with path.open("rb") as file:
        assert [match.offset for match in logs.search(file, "needle").matches] == [0, 16]


def test_colours_become_classes_and_nothing_else_is_left() -> None:
    (line,) = ansi.lines(
        "\x1b[1;31mred\x1b[0m <b> \x1b[2J\x1b]0;title\x07\x1b[38;5;46mgreen\x1b[39m\x1b[48;2;0;0;255mblue"
    )
    assert line == (
        '<span class="ansi-bold ansi-fg-1">red</span> &lt;b&gt; '
        '<span class="ansi-fg-10">green</span><span class="ansi-bg-12">blue</span>'
    )
    assert ansi.lines("\x1b[31ma\nb")[1] == '<span class="ansi-fg-1">b</span>'  # over lines


def test_of_a_progress_bar_the_end_is_shown() -> None:
    assert ansi.lines("10%\r50%\r100%\nnext") == ["100%", "next"]
    assert ansi.plain("\x1b[31m1\r2\x1b[0m\x07") == "2\\x07"


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[",
        "\x1b",
        "\x1b[38;5",
        "\x1b[38;2;1m",
        "\x1b]8;;" + "x" * 9999,
        "\x1b[" + "1;" * 9999 + "m",
        "\x1bP" + "\x1b" * 500,
    ],
)
def test_broken_sequences_are_survived(text: str) -> None:
    assert all("\x1b" not in line for line in ansi.lines(text))
