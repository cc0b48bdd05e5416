"""Tokens and cost from the logs that an agent leaves, which may be hostile: read in bounded memory, without trust."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mlecore.errors import DataError
from mlecore.model.agents import Usage
from mlecore.util.regular import open_regular

_LINE = 16 << 20  # bytes; a longer line is skipped
_BYTES = 1 << 30  # of a file; what follows is not read
_TOKENS = 10**15  # more is no count
_MODELS = 100


def json_lines(path: Path, logs: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of a file of JSON lines below ``logs``; none where there is no such file. Other lines are skipped."""
    try:
        descriptor = open_regular(path, below=logs)
    except (OSError, DataError):
        return
    with os.fdopen(descriptor, "rb") as file:
        whole = True
        while file.tell() < _BYTES and (line := file.readline(_LINE)):
            before, whole = whole, line.endswith(b"\n")
            if not (before and line.lstrip().startswith(b"{")):
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value


def table(value: object) -> Mapping[str, Any]:
    """``value`` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def total(calls: Iterable[tuple[object, object, object, object]]) -> Usage | None:
    """The sum of (model, tokens in, tokens out, cost in US dollars or None); None if there is none."""
    models: dict[str, None] = {}
    tokens_in = tokens_out = number = 0
    cost = 0.0
    priced = False
    for name, given, generated, dollars in calls:
        number += 1
        if isinstance(name, str) and name and name.isprintable() and len(models) < _MODELS:
            models[name[:200]] = None
        tokens_in += _count(given)
        tokens_out += _count(generated)
        if isinstance(dollars, (int, float)) and 0 <= dollars < math.inf:
            priced, cost = True, cost + dollars
    if not number:
        return None
    return Usage(
        models=tuple(models),
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=cost if priced and math.isfinite(cost) else None,
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _TOKENS else 0


def reported(name: str) -> Callable[[Path], Usage | None]:
    """A hook ``usage`` for an agent whose programs write to ``logs/NAME`` a line for each call:
    ``{"usage": {"model": ..., "input": ..., "output": ...}}``.
    """

    def usage(logs: Path) -> Usage | None:
        lines = (table(line.get("usage")) for line in json_lines(logs / name, logs) if "usage" in line)
        return total((line.get("model"), line.get("input"), line.get("output"), line.get("cost")) for line in lines)

    return usage
