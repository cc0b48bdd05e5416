"""Claude Code: a graded run whose session is continued, and what its logs say of tokens."""

from __future__ import annotations

import json
from pathlib import Path

import mle_agent_claude_code as plugin
import pytest
from mle_lib_agents.testing import run_in_two_sessions

from mlecore_testing import check_agent
from mlecore_testing.models import Answer
from mlecore_testing.models.script import Tool


def bash(command: str) -> Answer:
    return Answer(tools=(Tool(name="Bash", arguments={"command": command, "description": "work"}),))


def test_conformance() -> None:
    check_agent("claude-code")


def test_usage_counts_what_came_from_the_cache(tmp_path: Path) -> None:
    used = {
        "inputTokens": 5,
        "cacheReadInputTokens": 10,
        "cacheCreationInputTokens": 1,
        "outputTokens": 2,
        "costUSD": 0.5,
    }
    lines = [{"type": "assistant"}, {"type": "result", "modelUsage": {"a": used, "b": used}}] * 2
    (tmp_path / "claude-code.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    usage = plugin.usage(tmp_path)
    assert (usage.models, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (("a", "b"), 64, 8, 2.0)


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
def test_a_graded_run_in_two_sessions(tmp_path: Path) -> None:
    done = run_in_two_sessions("claude-code", bash, tmp_path)
    assert not {"WebSearch", "WebFetch"} & {tool["name"] for tool in done.served.requests[-1]["body"]["tools"]}
    assert any((done.record.folder / "logs" / "claude" / "projects").rglob("*.jsonl"))
