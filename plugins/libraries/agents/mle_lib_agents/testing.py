"""For tests of agents with a model: their loop by itself, and sessions that are continued while time is left."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mlecore.util.child_environment import child_environment
from mlecore_testing import ScriptedRun, scripted_run
from mlecore_testing.models import Answer, Script, scripted_model

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


class Loop:
    """An agent's program in its own folder, as in a sandbox, against a scripted model."""

    def __init__(self, home: Path, files: Mapping[str, Path]) -> None:
        self.home = home
        for name in ("agent", "logs"):
            (home / name).mkdir()
        for name, path in files.items():
            (home / name).write_bytes(path.read_bytes())

    def run(self, script: Script, settings_in: str, settings: Mapping[str, object], limit: float = 600) -> str:
        """The last line that it prints, which is its outcome. ``served`` has what it asked."""
        with scripted_model(script) as model:
            env = {
                **child_environment(),
                "MLECORE_HOME": str(self.home),
                "MLECORE_TIME_LIMIT": str(limit),
                "OPENAI_BASE_URL": model.url,
                "OPENAI_API_KEY": "token",
                "ANTHROPIC_BASE_URL": model.root,
                "ANTHROPIC_API_KEY": "token",
                settings_in: json.dumps(settings),
            }
            argv = [sys.executable, "agent/main.py"]
            done = subprocess.run(argv, cwd=self.home, env=env, input="The task.", capture_output=True, text=True)
            self.served = model.served
        assert done.returncode == 0, done.stderr
        outcome = done.stdout.splitlines()[-1]
        assert (self.home / "logs" / "outcome").read_text() == outcome + "\n"
        return outcome
