"""The reference agent: its loop against a scripted model, by itself and in a graded run."""

from __future__ import annotations

import json
from pathlib import Path

import mle_agent_react as plugin
import pytest
from mle_lib_agents import programs, testing

from mlecore_testing import check_agent, scripted_run
from mlecore_testing.models import Answer, Script, Tool

SETTINGS = {
    "model": "scripted",
    "temperature": 0.5,
    "system": None,
    "steps": 20,
    "context": 1000,
    "command_timeout": 60,
    "output": 200,
    "retries": 3,
}
SUBMIT = Answer(tools=(Tool(name="submit"),))


def shell(command: str, **more: object) -> Answer:
    return Answer(tools=(Tool(name="shell", arguments={"command": command}),), **more)  # type: ignore[arg-type]


SOLVE = shell("mkdir -p submission; echo id,y > submission/submission.csv")


def test_conformance() -> None:
    check_agent("react")


class Loop(testing.Loop):
    def __init__(self, home: Path) -> None:
        super().__init__(home, programs(plugin.WORK, "clock.py", "commands.py", "ending.py"))
        (home / "validate_submission.sh").write_text("head -1 $1 | grep id || { echo the header is wrong; exit 1; }")

    def solve(self, *answers: Answer, context_of: int | None = None, limit: float = 600, **settings: object) -> str:
        script = Script(answers=answers) if context_of is None else Script(answers=answers, context=context_of)
        return self.run(script, "REACT_SETTINGS", SETTINGS | settings, limit)

    def seen(self, number: int) -> list[str]:
        """What the model saw with its call of this number: the text of each message."""
        return [message["content"] for message in self.served.requests[number]["body"]["messages"]]


@pytest.fixture
def loop(tmp_path: Path) -> Loop:
    return Loop(tmp_path)


@pytest.mark.slow
def test_commands_run_and_a_valid_file_is_submitted(loop: Loop) -> None:
    assert loop.solve(shell("echo seen $((6*7))"), SOLVE, SUBMIT) == "submitted"
    assert loop.seen(0)[1] == "The task."
    assert loop.seen(1)[-1].startswith("seen 42\n[step 1 of 20; time left: ")
    assert loop.served.requests[0]["body"]["temperature"] == 0.5
    used = plugin.usage(loop.home / "logs")
    assert (used.input_tokens, used.output_tokens) == (loop.served.input, loop.served.output)
    assert used.models == ("scripted",)


@pytest.mark.slow
def test_an_invalid_file_is_not_submitted(loop: Loop) -> None:
    wrong = shell("mkdir submission; echo wrong > submission/submission.csv")
    assert loop.solve(wrong, SUBMIT, SOLVE, SUBMIT) == "submitted"
    assert "the header is wrong" in loop.seen(2)[-1]


@pytest.mark.slow
def test_what_is_slow_or_long_is_cut(loop: Loop) -> None:
    loop.solve(shell("sleep 90 & sleep 90"), shell("seq 9999; exit 3"), SOLVE, SUBMIT, command_timeout=3)
    assert loop.seen(1)[-1].startswith("[ended after 3 seconds]")
    assert "bytes left out" in loop.seen(2)[-1] and "[exit code 3]" in loop.seen(2)[-1] and len(loop.seen(2)[-1]) < 400


@pytest.mark.slow
def test_old_turns_are_forgotten_and_the_task_is_not(loop: Loop) -> None:
    loop.solve(shell("seq 999", times=10), SOLVE, SUBMIT, output=2000, context=1500)
    sizes = [len("".join(loop.seen(number))) for number in range(12)]
    assert max(sizes) < 4 * 1500 + 2000 and all(loop.seen(number)[1] == "The task." for number in range(12))


@pytest.mark.slow
def test_a_context_smaller_than_declared_is_noticed(loop: Loop) -> None:
    answers = (shell("seq 999", times=6), SOLVE, SUBMIT)
    assert loop.solve(*answers, context_of=2000, output=2000, context=9999) == "submitted"
    assert loop.served.statuses[400] > 0


@pytest.mark.slow
def test_odd_answers_do_not_end_the_work(loop: Loop) -> None:
    odd = (
        Answer(text="I think."),
        Answer(tools=(Tool(name="dance"),)),
        Answer(tools=(Tool(name="shell", arguments='{"command":'),)),
        Answer(status=429, retry_after=0),
        Answer(status=500),
        Answer(malformed=True),
    )
    assert loop.solve(*odd, SOLVE, SUBMIT) == "submitted"
    assert "call submit" in loop.seen(1)[-1] and "two tools" in loop.seen(2)[-1] and "no JSON" in loop.seen(3)[-1]


@pytest.mark.slow
def test_no_call_that_a_server_rejects_stays_in_the_history(loop: Loop) -> None:
    """Arguments cut short: llama.cpp answers 500 for ever. What else a server rejects goes with the last turn, once."""
    cut = Answer(tools=(Tool(name="shell", arguments='{"command": "echo unterminat'),))
    rejected = Answer(status=400, text="bad history")
    assert loop.solve(cut, SOLVE, SUBMIT) == "submitted"
    messages = loop.served.requests[-1]["body"]["messages"]
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    assert len(calls) == 2 and all(json.loads(call["function"]["arguments"]) is not None for call in calls)
    assert loop.solve(SOLVE, rejected, rejected, SUBMIT) == "submitted"
    assert loop.solve(cut, *[rejected] * 3).startswith("no_answer: Error code: 400")


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        Answer(text='<tool_call>{"name": "shell", "arguments": {}}</tool_call>'),
        Answer(text="Done."),
        Answer(tools=(Tool(name="shell", arguments='{"command": "cut sho'),), times=0),
    ],
)
def test_answers_without_calls_end_it_and_name_what_to_check(loop: Loop, first: Answer) -> None:
    ended = loop.solve(first, Answer(text="Done.", times=0), steps=500)
    assert ended.startswith("gave_up: 5 answers in a row")
    assert ("--tool-call-parser" in ended) == ("<tool" in first.text)
    assert loop.served.calls == 5


@pytest.mark.slow
def test_it_ends_when_nothing_more_can_come(loop: Loop) -> None:
    assert loop.solve(SOLVE, shell("true", times=0), steps=3) == "steps_used"
    assert loop.solve(shell("true", times=0), limit=31, steps=10**6) == "time_up"
    assert loop.solve(Answer(status=403, text="no budget")).startswith("no_answer: Error code: 403")


# Keys would be in its environment, in files, or in the processes that it sees; the pattern does not match itself.
LOOK = 'env | grep -c "sk-script[e]d"; grep -rls "sk-script[e]d" /home /opt /tmp /etc /proc/*/environ /proc/*/cmdline'


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize(
    "backend", [pytest.param("vm", marks=pytest.mark.sandbox), pytest.param("docker", marks=pytest.mark.docker)]
)
def test_a_graded_run_without_its_key(backend: str, tmp_path: Path) -> None:
    answers = (shell(LOOK), shell("cp data/sample_submission.csv submission/submission.csv"), SUBMIT)
    done = scripted_run("react", answers, tmp_path, backend=backend, options={"pip": ""})
    assert json.loads((done.record.folder / "grade.json").read_bytes())["valid_submission"]
    found = done.served.requests[1]["body"]["messages"][-1]["content"]
    assert found.partition("[")[0].split() == ["0"], found
    assert done.leaks == ()
    if backend == "docker":
        docker = pytest.importorskip("docker").from_env().api
        image = done.record.image_digest
        described = json.dumps([docker.inspect_image(image), docker.history(image)])
        assert "openai" in described and "sk-scripted" not in described
    assert done.record.usage.input_tokens == done.record.reported_usage.input_tokens == done.served.input
