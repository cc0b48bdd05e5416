"""docs/agents.md, word for word: every command in it is run, and its runs end graded."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mlecore.registry.discovery import plugins

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


@pytest.mark.sandbox
def test_every_command_of_the_page(
    environment: dict[str, str], tmp_path: Path, uploads: Path, offer: Callable[[str], None]
) -> None:
    commands = re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert sum(block.count("\n") for block in commands) >= 80
    offer("openai")
    folder = tmp_path / "work"
    folder.mkdir()
    tmp_path.chmod(0o755)
    done = subprocess.run(
        ["bash", "-ec", "\n".join(commands)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert (uploads / "mle_agent_my_agent-0.1.0-py3-none-any.whl").is_file()
    for group, agent, calls in (("script", "command", 1), ("llm", "my-llm-agent", 3), ("published", "my-agent", 1)):
        (run,) = (folder / "runs" / group).glob(f"{agent}--*")
        assert json.loads((run / "grade.json").read_bytes())["valid_submission"]
        assert json.loads((run / "run.json").read_bytes())["calls"]["calls"] == calls


def test_agents_that_it_lists_are_all_that_there_are() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \|", TEXT, re.MULTILINE)
    ours = {plugin.name for plugin in plugins("agent") if (ROOT / "plugins" / "agents" / plugin.name).is_dir()}
    assert set(listed) == ours and len(listed) == len(ours)
