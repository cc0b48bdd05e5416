"""Runs every agent with a language model on every backend, to a graded submission, against a scripted model.

    python benchmarks/agents.py [AGENT ...] [--backend docker] [--backend vm] [-A packages=all]

The suite tests each agent on one backend, as installing them all on both takes long. This is the whole matrix. A line
for each: graded or not, seconds, calls, tokens as the gateway counted them and as the agent's logs report them. Exit
code 1 if a run is not graded as valid, or if the model's key was found in what it left.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlecore_testing import scripted_run
from mlecore_testing.models import Answer
from mlecore_testing.models.script import Tool

from mlecore.errors import MlecoreError

COPY = "cp data/sample_submission.csv submission/submission.csv"
DONE = "touch logs/finished"
PROGRAM = """import shutil
shutil.copy("input/sample_submission.csv", "working/submission.csv")
print("accuracy", 0.5)"""


def call(name: str, **arguments: Any) -> Answer:
    return Answer(tools=(Tool(name=name, arguments=arguments),))


def step(action: str, **given: str) -> Answer:
    return Answer(text=f"Thought: on\nAction: {action}\nAction Input: {json.dumps(given)}", when="THE TASK")


AGENTS: Mapping[str, tuple[Answer, ...]] = {
    "react": (call("shell", command=COPY), call("submit")),
    "mlab": (
        step("Copy File", source="data/sample_submission.csv", destination="submission/submission.csv"),
        step("Final Answer", final_answer="done"),
        Answer(text="a summary", when="^Sum up this step", times=0),
    ),
    "aide": (
        Answer(text=f"A plan.\n\n```python\n{PROGRAM}\n```", when="grandmaster attending"),
        Answer(
            tools=(
                Tool(
                    name="submit_review",
                    arguments={"is_bug": False, "summary": "fine", "metric": 0.5, "lower_is_better": False},
                ),
            ),
            when="evaluate the output",
        ),
    ),
    "claude-code": (call("Bash", command=COPY), call("Bash", command=DONE), Answer(text="Done.", times=0)),
    "codex": (call("exec_command", cmd=COPY), call("exec_command", cmd=DONE), Answer(text="Done.", times=0)),
    "openhands": (
        call("terminal", command=COPY, security_risk="LOW", summary="copy"),
        call("terminal", command=DONE, security_risk="LOW", summary="finish"),
        call("finish", message="Done."),
    ),
}
OPTIONS: Mapping[str, Mapping[str, str]] = {"aide": {"packages": "few", "steps": "1"}}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"of {', '.join(AGENTS)}; default: all")
    parser.add_argument("--backend", action="append", help="default: docker and vm")
    parser.add_argument("-A", dest="options", action="append", default=[], metavar="NAME=VALUE", help="for every agent")
    asked = parser.parse_args()
    more = dict(option.split("=", 1) for option in asked.options)
    failed = 0
    for agent in asked.agents or AGENTS:
        for backend in asked.backend or ("docker", "vm"):
            failed += not tried(agent, backend, {"pip": "", **OPTIONS.get(agent, {}), **more})
    return int(failed > 0)


def tried(agent: str, backend: str, options: Mapping[str, str]) -> bool:
    """One run, and a line about it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mlecore-agents-") as folder:
        try:
            done = scripted_run(agent, AGENTS[agent], Path(folder), backend=backend, options=options, time_limit="15m")
        except MlecoreError as error:
            print(f"{agent} on {backend}: {error}", flush=True)
            return False
        record = done.record
        valid = record.state == "graded" and json.loads((record.folder / "grade.json").read_bytes())["valid_submission"]
        counted, reported = (
            f"{usage.input_tokens} + {usage.output_tokens}" if usage else "none"
            for usage in (record.usage, record.reported_usage)
        )
        verdict = "valid" if valid else f"NOT VALID ({record.state}, {record.reason})"
        seconds = f"{time.monotonic() - began:.0f} s, {record.seconds or 0:.0f} s of them in the sandbox"
        tokens = f"{done.served.calls} calls, tokens counted {counted}, reported {reported}"
        print(f"{agent} on {backend}: {verdict}, {seconds}, {tokens}, key found {done.leaks or 'nowhere'}", flush=True)
        if not valid:
            log = record.folder / "logs" / "output.log"
            print(log.read_text(errors="replace")[-2000:] if log.exists() else "no output", flush=True)
        return valid and not done.leaks


if __name__ == "__main__":
    sys.exit(main())
