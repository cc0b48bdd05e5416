"""AIDE's search, with what its release lacks: a limit on the whole time, and the best solution's submission kept.

The task comes on standard input, the settings in the variable AIDE_SETTINGS.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import traceback
from pathlib import Path
from typing import Any

import clock
import ending
from search import Search, configuration, connect

HOME = Path(os.environ.get("MLECORE_HOME", "/home"))
RESERVE = 60.0  # seconds of the run's time in which no solution is started
FAILURES = 5  # steps in a row

NOTE = """
HOW YOU WORK HERE
Your program runs in a folder of its own: its data are in ./input (the folder called data above), and it writes
./working/submission.csv. Of all your programs, the submission of the one with the best validation metric is handed in.
Report the metric of the competition. Time left: {left}. This is attempt {step} of at most {steps}.
"""


def work(task: str, settings: dict[str, Any]) -> str:
    """Try solutions until there is a reason to stop; returns the outcome."""
    random.seed(settings["seed"])
    (HOME / "logs").mkdir(exist_ok=True)
    connect(HOME / "logs" / "aide.jsonl")
    search = Search(configuration(settings, HOME), settings)
    failures, steps = 0, settings["steps"]
    ended, why = "steps_used", ""
    for step in range(1, steps + 1):
        if clock.left() < 2 * RESERVE:
            ended = f"gave_up: {why}" if failures else "time_up"
            break
        search.task_desc = task + NOTE.format(left=clock.left_in_words(), step=step, steps=steps)
        try:
            search.try_one(min(settings["step_timeout"], clock.left() - RESERVE))
        except Exception as error:
            traceback.print_exc()
            failures += 1
            why = f"{failures} steps failed in a row, the last one with {type(error).__name__}: {error}"
            if failures == FAILURES:
                of_model = type(error).__module__.partition(".")[0] in ("openai", "anthropic")
                ended = f"{'no_answer' if of_model else 'gave_up'}: {why}"
                break
            continue
        failures = 0
        search.save()
        hand_in(search)
    run_best_again(search)
    search.close()
    return ended


def hand_in(search: Search) -> None:
    """The submission of the best solution, as the journal says, that has left one."""
    for node in search.ranked():
        if kept := search.submission(node):
            place(node.code, kept)
            return


def run_best_again(search: Search) -> None:
    """Once more for the submission that the best solution has not left; another's stays if it leaves none again."""
    best = next(iter(search.ranked()), None)
    if best is None or search.submission(best) or clock.left() < RESERVE + 1.5 * (best.exec_time or 0):
        return
    if written := search.run_again(best, clock.left() - RESERVE):
        place(best.code, written)


def place(code: str, written: Path) -> None:
    """Put a solution and its submission where they count."""
    target = HOME / "submission" / "submission.csv"
    for folder in (HOME / "code", target.parent):
        folder.mkdir(exist_ok=True)
    (HOME / "code" / "solution.py").write_text(code, encoding="utf-8")
    shutil.copyfile(written, target.with_suffix(".part"))
    target.with_suffix(".part").replace(target)


if __name__ == "__main__":
    ending.report(work(sys.stdin.read(), json.loads(os.environ["AIDE_SETTINGS"])))
