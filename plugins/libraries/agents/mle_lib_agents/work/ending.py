"""Says how the agent ended, for the run's record."""

from __future__ import annotations

import os
import re
from pathlib import Path

HOME = Path(os.environ.get("MLECORE_HOME", "/home"))
SILENT = 5  # answers in a row without a call that a tool took: the agent then ends
_WRITTEN = re.compile(r"<tool_call|<function|functools\[|\"(?:arguments|parameters)\"\s*:")


def report(outcome: str) -> None:
    """``outcome`` is one of submitted, time_up, steps_used, no_answer, gave_up and fallback, alone or with a colon and
    a detail: ``no_answer: status 403``.
    """
    (HOME / "logs" / "outcome").write_text(outcome.replace("\n", " ") + "\n", encoding="utf-8")
    print(outcome, flush=True)


def without_calls(answers: list[str]) -> str:
    """The outcome after these answers, and what to check where a model writes its calls as text."""
    outcome = f"gave_up: {len(answers)} answers in a row without a call that a tool could take"
    if not any(map(_WRITTEN.search, answers)):
        return outcome
    return (
        f"{outcome}; the model writes them as text: does its server parse them (vLLM: --enable-auto-tool-choice,"
        " --tool-call-parser)?"
    )
