"""Text from elsewhere (agents, records, plugins) in a form that is safe to print on a terminal."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator


def print_everything() -> None:
    """Make this process print characters that its output encoding lacks as escapes: ``\\u2191``.

    Output to a closed stream is discarded, and no file that is opened later gets its descriptor.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdout, sys.stderr = (stream or _nowhere() for stream in (sys.stdout, sys.stderr))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.FileIO(os.devnull, "w"), write_through=True)


def printable(text: str, *, lines: bool = False) -> str:
    """The text with control characters and lone surrogates spelled out, such as ``\\x1b`` for ESC.

    ``lines``: keep line breaks and tabs.
    """
    if text.isprintable():
        return text
    if lines:
        return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
    with contextlib.suppress(UnicodeEncodeError):
        text = os.fsencode(text).decode("utf-8", "backslashreplace")  # bytes of a file name that are not text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def printable_output(chunks: Iterable[bytes]) -> Iterator[str]:
    """A process's output, safe to print. A carriage return, which would overwrite a line, becomes a line break."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("backslashreplace"), translate=True)
    for chunk in chunks:
        yield printable(decoder.decode(chunk), lines=True)
    yield printable(decoder.decode(b"", final=True), lines=True)
