"""The research agent: its actions, its log and its protocols against a scripted model, and a graded run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mle_agent_mlab as plugin
import pytest
from mle_lib_agents import programs, testing

from mlecore_testing import check_agent, scripted_run
from mlecore_testing.models import Answer, Script

SETTINGS = {
    "model": "scripted",
    "fast_model": "fast",
    "edit_model": "editor",
    "protocol": "chat",
    "temperature": 1.0,
    "steps": 30,
    "retries": 2,
    "shown": 400,
    "script_timeout": 60,
    "remember": 2,
    "log_shown": 2000,
}
TASK = "THE TASK"
SUMMARY = Answer(text="[Reasoning]: r [Action]: a [Observation]: o", when="^Sum up this step", times=0)
EDITED = Answer(text="Here it is.\n```python\nprint('edited')\n```", when="^Here is the Python script", times=0)
UNDERSTOOD = Answer(text="it has three rows", when="^This is part", times=0)
REFLECTED = Answer(text="all is well", when="Think about this", times=0)


def step(action: str, **given: Any) -> Answer:
    text = f"Reflection: none\nResearch Plan and Status: go on\nFact Check: -\nThought: because\nAction: {action}\n"
    return Answer(text=f"{text}Action Input: {json.dumps(given, indent=1)}\nObservation: made up", when=TASK)


DONE = step("Final Answer", final_answer="it works")
SCRIPT = "import shutil\nshutil.copy('data/sample_submission.csv', 'submission/submission.csv')\n"
SOLVE = (
    step("Write File", file_name="code/solve.py", content=SCRIPT),
    step("Execute Script", script_name="code/solve.py"),
    step("Validate Submission"),
    DONE,
)


class Loop(testing.Loop):
    def __init__(self, home: Path) -> None:
        super().__init__(home, programs(plugin.WORK, "clock.py", "commands.py", "ending.py"))
        for name in ("data", "submission"):
            (home / name).mkdir()
        (home / "data" / "sample_submission.csv").write_text("id,y\n")
        (home / "validate_submission.sh").write_text("grep id $1 && echo valid")

    def solve(self, *answers: Answer, **settings: object) -> str:
        script = Script(answers=(*answers, SUMMARY, EDITED, UNDERSTOOD, REFLECTED))
        return self.run(script, "MLAB_SETTINGS", SETTINGS | settings)

    def observed(self) -> list[str]:
        """What came of each step."""
        log = (self.home / "logs" / "main_log").read_text()
        return [part.partition("\n```\n")[0] for part in log.split("Observation:\n```\n")[1:]]


@pytest.fixture
def loop(tmp_path: Path) -> Loop:
    return Loop(tmp_path)


def test_conformance() -> None:
    check_agent("mlab")


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["chat", "responses", "messages"])
def test_every_protocol(loop: Loop, protocol: str) -> None:
    assert loop.solve(*SOLVE, protocol=protocol) == "submitted"
    assert (loop.home / "submission" / "submission.csv").exists()
    used = plugin.usage(loop.home / "logs")
    assert (used.input_tokens, used.output_tokens) == (loop.served.input, loop.served.output)
    assert used.models == ("scripted", "fast")
    assert {request["body"]["temperature"] for request in loop.served.requests} == {1.0}


@pytest.mark.slow
def test_every_action(loop: Loop) -> None:
    (loop.home / "data" / "long.csv").write_text("row\n" * 300)
    steps = (
        step("List Files", dir_path="data"),
        step("Write File", file_name="a.py", content="print('first')\n"),
        step("Append File", file_name="a.py", content="print('second')\n"),
        step("Copy File", source="a.py", destination="code/b.py"),
        step("Execute Script", script_name="code/b.py"),
        step("Undo Edit Script", script_name="a.py"),
        step("Undo Edit Script", script_name="code/b.py"),
        step("Edit Script (AI)", script_name="a.py", edit_instruction="better", save_name="a.py"),
        step("Inspect Script Lines", script_name="a.py", start_line_number=1, end_line_number="9"),
        step("Understand File", file_name="data/long.csv", things_to_look_for="rows"),
        step("Read File", file_name="data/long.csv"),
        step("Reflection", things_to_reflect_on="the plan"),
        DONE,
    )
    assert loop.solve(*steps) == "submitted"
    seen = loop.observed()
    assert seen[0] == "long.csv\nsample_submission.csv"
    assert seen[4] == "It printed:\nfirst\nsecond"
    assert seen[5] == "a.py is as it was:\nprint('first')\n" and "removed again" in seen[6]
    assert "-print('first')\n+print('edited')" in seen[7]
    assert seen[8] == "a.py has 1 lines. Lines 1 to 1:\n1: print('edited')"
    assert (seen[9], seen[11]) == ("it has three rows", "all is well")
    assert "characters are left out" in seen[10] and len(seen[10]) < 500
    models = {request["body"]["model"] for request in loop.served.requests}
    assert models == {"scripted", "fast", "editor"}


@pytest.mark.slow
def test_what_goes_wrong_is_observed(loop: Loop) -> None:
    steps = (
        step("Read File", file_name="none.csv"),
        step("Read File", name="x"),
        step("Execute Script", script_name="none.py"),
        step("Undo Edit Script", script_name="none.py"),
        step("Write File", file_name="data", content="x"),
        step("Write File", file_name="x.py", content=["no text"]),
        step("Inspect Script Lines", script_name="agent/main.py", start_line_number="1", end_line_number="999"),
        step("Write File", file_name="x.py", content="import time\ntime.sleep(300)\n"),
        step("Execute Script", script_name="x.py"),
        DONE,
    )
    assert loop.solve(*steps, script_timeout=1) == "submitted"
    seen = loop.observed()
    expected = ("no file none.csv", "takes other arguments (file_name)", "no script", "Nothing was changed", "a folder")
    assert all(word in text for word, text in zip(expected, seen, strict=False)), seen
    assert "no text" in seen[5] and "look at fewer" in seen[6] and "ended after 1 seconds" in seen[8]


@pytest.mark.slow
def test_the_format_is_asked_for_again(loop: Loop) -> None:
    bad = (
        Answer(text="I would rather talk.", when=TASK),
        step("Dance"),
        Answer(text="Thought: x\nAction: List Files\nAction Input: {", when="no action 'Dance'"),
    )
    assert loop.solve(*bad[:2], DONE) == "submitted"
    prompts = [request["body"]["messages"][0]["content"] for request in loop.served.requests]
    assert "begins with 'Thought'" in prompts[1] and "There is no action 'Dance'" in prompts[2]
    assert loop.solve(*bad) == "gave_up: the model does not keep to the format"


@pytest.mark.slow
def test_it_ends_when_nothing_more_can_come(loop: Loop) -> None:
    assert loop.solve(step("List Files", dir_path="."), steps=1) == "steps_used"
    assert loop.solve(Answer(status=403, text="no budget")).startswith("no_answer: Permission")


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
def test_a_graded_run(tmp_path: Path) -> None:
    options = {"pip": "", "fast-model": "fast"}
    done = scripted_run("mlab", (*SOLVE, SUMMARY), tmp_path, options=options)
    assert json.loads((done.record.folder / "grade.json").read_bytes())["valid_submission"]
    assert done.leaks == () and done.record.access.models == ("scripted", "fast")
    assert done.record.usage.input_tokens == done.record.reported_usage.input_tokens == done.served.input
