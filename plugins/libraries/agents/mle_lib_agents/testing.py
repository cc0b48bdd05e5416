"""For tests of agents whose session is continued while time is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from mlecore_testing import ScriptedRun, scripted_run
from mlecore_testing.models import Answer

SAID = "That is all."


def run_in_two_sessions(
    agent: str, shell: Callable[[str], Answer], folder: Path, *, end: Answer | None = None, **arguments: Any
) -> ScriptedRun:
    """A scripted run: the model submits and ends its session; in the next one it creates ``logs/finished``.

    ``shell`` makes the call of the agent's tool that runs a command; ``end`` is the answer that ends a session and says
    ``SAID``; ``arguments`` are those of ``scripted_run``. AssertionError unless the submission is graded as valid, the
    session was continued, the tokens in the logs are those that the model counted, and its key is nowhere.
    """
    end = end or Answer(text=SAID)
    answers = (
        shell("cp data/sample_submission.csv submission/submission.csv"),
        end,
        shell("touch logs/finished"),
        msgspec.structs.replace(end, times=0),
    )
    done = scripted_run(agent, answers, folder, options={"pip": ""}, **arguments)
    assert json.loads((done.record.folder / "grade.json").read_bytes())["valid_submission"]
    conversation = json.dumps(done.served.requests[-1]["body"])
    assert "left. Go on" in conversation and SAID in conversation and "WHAT COUNTS" in conversation
    assert done.leaks == ()
    for usage in (done.record.usage, done.record.reported_usage):
        assert usage and usage.input_tokens == done.served.input
    return done
