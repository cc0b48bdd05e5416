"""Text from elsewhere (agents, records, plugins) in a form that is safe to print on a terminal."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
from collections.abc import Iterable, Iterator


def printable(text: str, *, lines: bool = False) -> str:
    """The text with control characters, escapes and halves of surrogate pairs spelled out: ``\\x1b`` for ESC.

    With ``lines``, line ends and tabs stay as they are.
    """
    if text.isprintable():
        return text
    if lines:
        return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
    with contextlib.suppress(UnicodeEncodeError):
        text = os.fsencode(text).decode("utf-8", "backslashreplace")  # bytes of a file's name that are not text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def printable_output(chunks: Iterable[bytes]) -> Iterator[str]:
    """What a process printed, safe to print; a carriage return, which would overwrite a line, ends it."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("backslashreplace"), translate=True)
    for chunk in chunks:
        yield printable(decoder.decode(chunk), lines=True)
    yield printable(decoder.decode(b"", final=True), lines=True)
