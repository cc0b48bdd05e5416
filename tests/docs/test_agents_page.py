"""docs/agents.md, word for word: every command in it is run, and its runs end graded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mlecore.plugins.discovery import installed

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


@pytest.mark.sandbox
def test_every_command_of_the_page(
    follow: Callable[..., tuple[Path, str]], uploads: Path, offer: Callable[[str], None]
) -> None:
    offer("openai")
    folder, _ = follow(TEXT, at_least=80)
    assert (uploads / "mle_agent_my_agent-0.1.0-py3-none-any.whl").is_file()
    for group, agent, calls in (("script", "command", 1), ("llm", "my-llm-agent", 3), ("published", "my-agent", 1)):
        (run,) = (folder / "runs" / group).glob(f"{agent}--*")
        assert json.loads((run / "grade.json").read_bytes())["valid_submission"]
        assert json.loads((run / "run.json").read_bytes())["calls"]["calls"] == calls


def test_agents_that_it_lists_are_all_that_there_are() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \|", TEXT, re.MULTILINE)
    ours = {plugin.name for plugin in installed("agent") if (ROOT / "plugins" / "agents" / plugin.name).is_dir()}
    assert set(listed) == ours and len(listed) == len(ours)
