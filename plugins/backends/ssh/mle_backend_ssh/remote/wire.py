"""The language that controller and host speak: JSON objects, one a line, each with bytes after it or not.

A request is one line, its answer any number of lines; ``result`` or ``error`` ends it. Lines before ``GREETING`` are
what the user's shell prints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any

from mlecore import errors

GREETING = b"mlecore-host-1\n"
LONGEST = 64 * 2**20  # bytes of a line; the longest holds the paths of a job's fetched files
_NOISE = 1 << 20  # bytes that a shell may print before the greeting
CHUNK = 256 * 1024

_ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.MlecoreError) and kind is not errors.MlecoreError
}


class ConnectionBroken(Exception):
    """The connection ended before the answer did, or what came is no answer."""


class NotStarted(ConnectionBroken):
    """mlecore's program did not start, and a reason was printed."""


def line(value: Mapping[str, Any], content: bytes = b"") -> bytes:
    """One line, followed by ``content``, whose size is in ``size``."""
    head = {**value, "size": len(content)} if content else value
    return json.dumps(head).encode() + b"\n" + content


def write(out: IO[bytes], value: Mapping[str, Any], content: bytes = b"") -> None:
    """Send one line at once."""
    out.write(line(value, content))
    out.flush()


def read(source: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """What ``write`` wrote. Raises ConnectionBroken."""
    text = source.readline(LONGEST)
    if not text.endswith(b"\n"):
        raise ConnectionBroken("the connection ended in the middle")
    try:
        head = json.loads(text)
        size = int(head.get("size", 0))
    except (ValueError, AttributeError, TypeError):
        raise ConnectionBroken(f"the host sent {text[:80]!r}, which is no answer") from None
    if not 0 <= size <= LONGEST:
        raise ConnectionBroken(f"the host announced {size} bytes at once")
    return head, read_exactly(source, size)


def read_exactly(source: IO[bytes], size: int) -> bytes:
    """All of ``size`` bytes. Raises ConnectionBroken."""
    parts = []
    while size:
        part = source.read(min(size, CHUNK))
        if not part:
            raise ConnectionBroken("the connection ended in the middle")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def await_greeting(source: IO[bytes]) -> None:
    """Skip what the user's shell prints. Raises ConnectionBroken, with its end, if no mlecore program starts."""
    seen, last = 0, b""
    while seen < _NOISE:
        text = source.readline(_NOISE)
        if text == GREETING:
            return
        if not text:
            break
        seen, last = seen + len(text), text
    words = last.decode(errors="replace").strip()
    if words:
        raise NotStarted(f"the host's program did not start: {words}")
    raise ConnectionBroken("the host's program did not start")


def pack_error(error: errors.MlecoreError) -> dict[str, Any]:
    """An error of mlecore as the end of an answer."""
    kind = next((each.__name__ for each in type(error).__mro__ if each.__name__ in _ERRORS), "BackendError")
    return {"error": kind, "message": error.message, "fix": error.fix}


def unpack_error(head: Mapping[str, Any], host: str) -> errors.MlecoreError:
    """The same error here, with the name of the host."""
    kind = _ERRORS.get(head["error"], errors.BackendError)
    return kind(f"{host}: {head.get('message')}", fix=head.get("fix"))
