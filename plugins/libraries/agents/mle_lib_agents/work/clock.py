"""How much of a run's time is left. The clock starts when this module is imported."""

from __future__ import annotations

import math
import os
import time

_START = time.monotonic()


def left() -> float:
    """Seconds until the sandbox ends everything; infinite where there is no limit."""
    return float(os.environ.get("MLECORE_TIME_LIMIT", math.inf)) - (time.monotonic() - _START)


def left_in_words() -> str:
    """Such as "3 hours and 12 minutes", for a prompt."""
    seconds = left()
    if math.isinf(seconds):
        return "no limit of time"
    hours, minutes = divmod(max(0, int(seconds // 60)), 60)
    if hours:
        return f"{_several(hours, 'hour')} and {_several(minutes, 'minute')}"
    return _several(minutes, "minute") if minutes else _several(max(0, int(seconds)), "second")


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
