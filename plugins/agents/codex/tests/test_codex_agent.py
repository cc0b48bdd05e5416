"""Codex: graded runs, one whose session is continued, and what its logs say of tokens."""

from __future__ import annotations

import json
from pathlib import Path

import mle_agent_codex as plugin
import pytest
from mle_lib_agents.testing import run_in_two_sessions

from mlecore_testing import check_agent, scripted_run
from mlecore_testing.models import Answer
from mlecore_testing.models.script import Tool


def bash(command: str) -> Answer:
    return Answer(tools=(Tool(name="exec_command", arguments={"cmd": command}),))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all runs, so that Codex is installed once."""
    return tmp_path_factory.mktemp("codex")


def test_conformance() -> None:
    check_agent("codex")


def test_usage_is_that_of_the_last_turn_of_each_session(tmp_path: Path) -> None:
    lines = [
        {"type": "thread.started", "thread_id": "a"},
        {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 1}},
        {"type": "thread.started", "thread_id": "a"},
        {"type": "turn.completed", "usage": {"input_tokens": 30, "output_tokens": 3}},
        {"type": "thread.started", "thread_id": "b"},
        {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 1}},
    ]
    (tmp_path / "codex.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    usage = plugin.usage(tmp_path)
    assert (usage.input_tokens, usage.output_tokens) == (35, 4)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
@pytest.mark.xdist_group("codex")
def test_a_graded_run_in_two_sessions(folder: Path) -> None:
    done = run_in_two_sessions("codex", bash, folder)
    assert any((done.record.folder / "logs" / "codex" / "sessions").rglob("*.jsonl"))


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
@pytest.mark.xdist_group("codex")
def test_a_rejected_web_search_is_shown(folder: Path) -> None:
    """The provider's search is the open web: without server-tools the gateway rejects it, and Codex says why."""
    options = {"pip": "", "rounds": "1", "web-search": "live"}
    done = scripted_run("codex", (Answer(text="done", times=0),), folder, options=options)
    assert done.record.calls and (done.record.calls.calls, done.served.calls) == (0, 0)
    assert "no access to tools and storage of the model's provider: web_search" in (
        done.record.folder / "logs" / "codex.jsonl"
    ).read_text(encoding="utf-8")
