"""Where a pod's volumes are mounted, and messages over standard input and output.

A message is a line of JSON. The bytes of a file follow as blocks, each after its length in four bytes; a length of zero
ends them. An empty message or block is a heartbeat.
"""

from __future__ import annotations

import json
import struct
import sys
import time
from typing import Any

CLAIM = "/claim"  # the volume of a run, or a claim with public data
HOME = CLAIM + "/home"  # the agent's home
RUN = CLAIM + "/run"
OUTPUT = RUN + "/output.log"  # what the agent prints
TOOLS = "/tools"
TERMINATION_LOG = "/dev/termination-log"  # shown in the pod's status
DATA = "/data"  # public data, read-only
FILES = "/opt/helper"  # the run's ConfigMap

BLOCK = 1 << 20
HEARTBEAT = 15.0  # seconds of silence after which an empty message is sent

incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
_flushed = time.monotonic()


def say(message: dict[str, Any]) -> None:
    outgoing.write(json.dumps(message).encode() + b"\n")


def block(content: bytes) -> None:
    outgoing.write(struct.pack(">I", len(content)) + content)


def flush() -> None:
    global _flushed
    outgoing.flush()
    _flushed = time.monotonic()


def beat() -> None:
    """Called now and then during long work, between messages."""
    if time.monotonic() - _flushed > HEARTBEAT:
        say({})
        flush()


def hear() -> dict[str, Any]:
    """The next message. Raises EOFError."""
    line = incoming.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    found: dict[str, Any] = json.loads(line)
    return found


def hear_bytes(count: int) -> bytes:
    """At most so many of a file's bytes, which come without lengths. Raises EOFError."""
    content = incoming.read(min(BLOCK, count))
    if not content:
        raise EOFError
    return content
