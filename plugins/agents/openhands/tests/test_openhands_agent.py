"""OpenHands: a graded run whose conversation is continued, and what its logs say of tokens."""

from __future__ import annotations

import json
from pathlib import Path

import mle_agent_openhands as plugin
import pytest
from mle_lib_agents.testing import SAID, run_in_two_sessions

from mlecore.errors import BackendError
from mlecore_sandboxes.pythons import find_python
from mlecore_testing import check_agent
from mlecore_testing.models import Answer
from mlecore_testing.models.script import Tool


def terminal(command: str) -> Answer:
    given = {"command": command, "security_risk": "LOW", "summary": "work"}
    return Answer(tools=(Tool(name="terminal", arguments=given),))


def test_conformance() -> None:
    check_agent("openhands")


def test_usage_is_that_of_the_whole_conversation(tmp_path: Path) -> None:
    lines = [{"usage": {"model": "m", "input": 10 * number, "output": number}} for number in (1, 2)]
    other = {"id": "an event", "usage": {"input": 5}}
    (tmp_path / "openhands.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (*lines, other)))
    usage = plugin.usage(tmp_path)
    assert (usage.models, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (("m",), 20, 2, None)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
def test_a_graded_run_in_two_sessions(tmp_path: Path) -> None:
    try:
        find_python(">=3.12", None)
    except BackendError as error:
        pytest.skip(str(error))
    end = Answer(tools=(Tool(name="finish", arguments={"message": SAID}),))
    done = run_in_two_sessions("openhands", terminal, tmp_path, end=end)
    assert any((done.record.folder / "logs" / "openhands").rglob("event-*.json"))
