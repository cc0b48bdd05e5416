"""Durations, sizes and counts as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from mlecore.errors import UsageError
from mlecore.util.schema import Written, brief

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_BYTES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def duration(text: str | float) -> float:
    """Seconds of "24h", "90m", "1h30m" or a plain number of seconds. Raises UsageError."""
    given = str(text).strip().lower() if isinstance(text, (str, int, float)) else ""
    if re.fullmatch(r"\d+(\.\d+)?(e[+-]?\d+)?", given):
        seconds = float(given)
    elif re.fullmatch(r"(\d+(\.\d+)?[smhd]\s*)+", given):
        parts = re.findall(r"(\d+(?:\.\d+)?)([smhd])", given)
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    else:
        raise UsageError(f"{brief(text)} is not a duration; write it like 24h, 90m, 1h30m or 3600")
    if not 0 < seconds < 10**9:
        raise UsageError(f"{brief(text)} is out of range for a duration")
    return seconds


def limit_seconds(text: str | float) -> float:
    """A duration. Rejects small numbers without a unit, because 24 might be hours. Raises UsageError.

    A fraction, such as a record's 60.0, is in seconds.
    """
    seconds = duration(text)
    if seconds < 600 and not isinstance(text, float) and str(text).strip()[-1].isdigit():
        raise UsageError(f"{brief(text)} has no unit: is it {seconds:g}h, {seconds:g}m or {seconds:g}s?")
    return seconds


def size(text: str | int) -> int:
    """Bytes of "16GB", "512MiB", "2T" or a plain number. Raises UsageError."""
    if isinstance(text, int) and not isinstance(text, bool) and text < 2**63:
        return text
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]I?|)B?", text.strip().upper() if isinstance(text, str) else "")
    if not match:
        raise UsageError(f"{brief(text)} is not a size; write it like 16GB, 512MiB or a number of bytes")
    return int(float(match[1]) * _BYTES[match[2]])


TimeLimit = Annotated[float, Written(limit_seconds, 'text such as "24h", "90m", "1h30m", or seconds from 600 on')]
Size = Annotated[int, Written(size, 'bytes, or text such as "16GB", "512MiB"')]


def show_duration(seconds: float) -> str:
    """Short: 45s, 12m 5s, 3h 20m, 24h, 2d 4h."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s" if seconds == whole or seconds >= 10 else f"{seconds:.1f}s"
    for least, big, small, name, below in _SHOWN:
        if whole >= least:
            rest = whole % big // small
            return f"{whole // big}{name} {rest}{below}" if rest else f"{whole // big}{name}"
    raise AssertionError(whole)


_SHOWN = ((2 * 86400, 86400, 3600, "d", "h"), (3600, 3600, 60, "h", "m"), (60, 60, 1, "m", "s"))


def show_size(count: float) -> str:
    """Short: 812 B, 3.4 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def write_duration(seconds: float) -> str | float:
    """The form that ``duration`` reads back exactly: "24h", "90m", "45s", or the number."""
    for unit, name in ((3600, "h"), (60, "m"), (1, "s")):
        if seconds % unit == 0:
            return f"{seconds / unit:.0f}{name}"
    return seconds


def show_number(value: float) -> str:
    """As short as possible, exact to five digits."""
    return f"{value:.5g}" if abs(value) >= 1e5 else f"{value:.5f}".rstrip("0").rstrip(".")


def counted(number: int, thing: str) -> str:
    """ "1 run", "2 runs"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def first(lines: Sequence[str], most: int = 5) -> list[str]:
    """The first lines, and the number of further ones."""
    more = len(lines) - most
    return [*lines[:most], *([f"and {more:,} more"] if more > 0 else [])]
