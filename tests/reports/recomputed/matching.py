"""What a report must hold, and how it is compared with what one holds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen


@frozen
class Rows:
    """A list of objects, found by what these names of each hold."""

    names: tuple[str, ...]
    rows: Mapping[tuple[Any, ...], Any]


def differences(expected: Any, found: Any, where: str = "report") -> Iterator[str]:
    """What is not as computed here; and each figure of the report that nothing was computed for."""
    if isinstance(expected, Rows):
        listed = {tuple(row[name] for name in expected.names): row for row in found}
        if len(listed) != len(found):
            yield f"{where}: rows are repeated"
        yield from differences(dict(expected.rows), listed, where)
    elif isinstance(expected, dict):
        for name in expected:
            if name not in found:
                yield f"{where}: {name} is missing"
            else:
                yield from differences(expected[name], found[name], f"{where}.{name}")
        for name in found:
            if name not in expected and _has_figure(found[name]):
                yield f"{where}.{name}: nothing was computed for it"
    elif isinstance(expected, list):
        if found is None:
            yield f"{where} is missing"
            return
        if len(expected) != len(found):
            yield f"{where}: {len(found)} instead of {len(expected)}"
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from differences(one, other, f"{where}[{number}]")
    elif isinstance(expected, float) and isinstance(found, (int, float)):
        if not math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-9):
            yield f"{where}: {found!r} instead of {expected!r}"
    elif expected != found:
        yield f"{where}: {found!r} instead of {expected!r}"


def _has_figure(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_figure, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_figure, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)
