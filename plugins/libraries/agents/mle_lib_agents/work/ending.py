"""Says how the agent ended, for the run's record."""

from __future__ import annotations

import os
from pathlib import Path

HOME = Path(os.environ.get("MLECORE_HOME", "/home"))


def report(outcome: str) -> None:
    """``outcome`` is one of submitted, time_up, steps_used, no_answer, gave_up and fallback, alone or with a colon and
    a detail: ``no_answer: status 403``.
    """
    (HOME / "logs" / "outcome").write_text(outcome.replace("\n", " ") + "\n", encoding="utf-8")
    print(outcome, flush=True)
