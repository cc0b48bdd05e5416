"""Mutations of the file itself: its encoding, its lines, its quotes."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from mlecore.testing.mutants.grid import Grid


def files(grid: Grid) -> Iterator[tuple[str, bytes]]:
    """Odd files that hold the same table, or hardly anything; each with what was done."""
    data = grid.render()
    head, _, body = data.partition(b"\n")
    lines = body.splitlines(keepends=True)
    yield "as it is", data
    yield "blank file", b""
    yield "one line end", b"\n"
    yield "a blank and a line end", b" \n"
    yield "header only", head + b"\n"
    yield "header only, no line end", head
    yield "no header", body
    yield "header twice", head + b"\n" + data
    yield "header again at the end", data + head + b"\n"
    yield "no line end at the end", data.rstrip(b"\n")
    yield "CRLF", data.replace(b"\n", b"\r\n")
    yield "CR", data.replace(b"\n", b"\r")
    yield "byte order mark", b"\xef\xbb\xbf" + data
    yield "UTF-16", data.decode().encode("utf-16")
    yield "blank lines between rows", data.replace(b"\n", b"\n\n")
    yield "blank first line", b"\n" + data
    yield "comment first", b"# made by hand\n" + data
    yield "every cell quoted", grid.render(csv.QUOTE_ALL)
    yield "semicolons", data.replace(b",", b";")
    yield "tabs", data.replace(b",", b"\t")
    yield "blank after every comma", data.replace(b",", b", ")
    yield "comma at the end of the header", head + b",\n" + body
    yield "comma at the end of every row", head + b"\n" + body.replace(b"\n", b",\n")
    yield "comma at the end of every line", data.replace(b"\n", b",\n")
    if lines:
        first, last = lines[0], lines[-1]
        rest, most = b"".join(lines[1:]), b"".join(lines[:-1])
        yield "comma at the end of the first row", head + b"\n" + first.replace(b"\n", b",\n") + rest
        yield "comma at the end of the last row", head + b"\n" + most + last.replace(b"\n", b",\n")
        yield "last row cut short", head + b"\n" + most + last.rpartition(b",")[0] + b"\n"
        yield "last row of commas only", data + b"," * head.count(b",") + b"\n"
        yield "a quote left open", head + b"\n" + most + b'"' + last
        yield "a NUL byte", head + b"\n" + most + last.replace(b",", b"\x00,", 1)
        yield "a byte that is not UTF-8", head + b"\n" + most + last.replace(b"\n", b"\xff\n")
        yield "blank after the last cell", head + b"\n" + most + last.replace(b"\n", b" \n")
    yield "JSON instead", b'{"predictions": [1, 2, 3]}\n'
    yield "words instead", b"I could not find the data.\nSorry.\n"
    yield "a PNG instead", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256))
