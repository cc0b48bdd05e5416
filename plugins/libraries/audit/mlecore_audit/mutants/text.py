"""Mutations of the file itself: its encoding, its lines, its quotes."""

from __future__ import annotations

import csv
from collections.abc import Callable

from mlecore_audit.mutants.grid import Grid

Change = Callable[[bytes], bytes]


def _at_end(change: Change) -> Change:
    """Changes the last line only."""

    def changed(data: bytes) -> bytes:
        most, end, last = data.removesuffix(b"\n").rpartition(b"\n")
        return most + end + change(last + b"\n")

    return changed


def _at_start(change: Change) -> Change:
    """Changes the header only."""

    def changed(data: bytes) -> bytes:
        head, _, body = data.partition(b"\n")
        return change(head + b"\n") + body

    return changed


def _below(change: Change) -> Change:
    """Changes all but the header."""

    def changed(data: bytes) -> bytes:
        head, _, body = data.partition(b"\n")
        return head + b"\n" + change(body)

    return changed


def _instead(new: bytes) -> Change:
    return lambda data: new


def _comma(line: bytes) -> bytes:
    return line.replace(b"\n", b",\n")


def _comma_once(body: bytes) -> bytes:
    return body.replace(b"\n", b",\n", 1)


FILES: tuple[tuple[str, Change], ...] = (
    ("as it is", lambda data: data),
    ("blank file", _instead(b"")),
    ("one line end", _instead(b"\n")),
    ("a blank and a line end", _instead(b" \n")),
    ("header only", _below(_instead(b""))),
    ("header only, no line end", lambda data: data.partition(b"\n")[0]),
    ("no header", lambda data: data.partition(b"\n")[2]),
    ("header twice", _at_start(lambda head: head + head)),
    ("header again at the end", lambda data: data + data.partition(b"\n")[0] + b"\n"),
    ("no line end at the end", lambda data: data.rstrip(b"\n")),
    ("CRLF", lambda data: data.replace(b"\n", b"\r\n")),
    ("CR", lambda data: data.replace(b"\n", b"\r")),
    ("byte order mark", lambda data: b"\xef\xbb\xbf" + data),
    ("UTF-16", lambda data: data.decode().encode("utf-16")),
    ("blank lines between rows", lambda data: data.replace(b"\n", b"\n\n")),
    ("blank first line", lambda data: b"\n" + data),
    ("comment first", lambda data: b"# made by hand\n" + data),
    ("every cell quoted", lambda data: Grid.parse(data).render(csv.QUOTE_ALL)),
    ("semicolons", lambda data: data.replace(b",", b";")),
    ("tabs", lambda data: data.replace(b",", b"\t")),
    ("blank after every comma", lambda data: data.replace(b",", b", ")),
    ("comma at the end of the header", _at_start(_comma)),
    ("comma at the end of every row", _below(_comma)),
    ("comma at the end of every line", _comma),
    ("comma at the end of the first row", _below(_comma_once)),
    ("comma at the end of the last row", _at_end(_comma)),
    ("last row cut short", _at_end(lambda line: line.rpartition(b",")[0] + b"\n")),
    ("last row of commas only", _at_end(lambda line: line + b"," * line.count(b",") + b"\n")),
    ("a quote left open", _at_end(lambda line: b'"' + line)),
    ("a NUL byte", _at_end(lambda line: line.replace(b",", b"\x00,", 1))),
    ("a byte that is not UTF-8", _at_end(lambda line: line.replace(b"\n", b"\xff\n"))),
    ("blank after the last cell", _at_end(lambda line: line.replace(b"\n", b" \n"))),
    ("JSON instead", _instead(b'{"predictions": [1, 2, 3]}\n')),
    ("words instead", _instead(b"I could not find the data.\nSorry.\n")),
    ("a PNG instead", _instead(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)))),
)
