"""Input of a job that has a terminal."""

from __future__ import annotations

import os

from .spec import JobSpec


def typed(spec: JobSpec, folder: str) -> bytes:
    """Types the job's standard input into its terminal, and then its end."""
    if not spec.terminal:
        return b""
    with open(f"{folder}/stdin", "rb") as source:  # noqa: PTH123
        text = source.read()
    return text + b"\x04" if text else b""


def put(descriptor: int, text: bytes) -> bytes:
    """Type what fits; returns the rest."""
    try:
        return text[os.write(descriptor, text[:512]) :]
    except BlockingIOError:
        return text
    except OSError:
        return b""
