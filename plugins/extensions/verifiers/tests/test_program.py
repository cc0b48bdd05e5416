"""The agent's loop, as it runs in a box, against a scripted model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parent.parent / "mle_ext_verifiers" / "program.py"


def run(url: str) -> subprocess.CompletedProcess[str]:
    given = json.dumps([{"role": "user", "content": "Début"}])
    command = [sys.executable, "-I", "-c", PROGRAM.read_text(), url, "key", "scripted"]
    return subprocess.run([*command, given[:20], given[20:]], capture_output=True, text=True)


def test_the_model_sees_what_its_command_printed(serving: Callable[..., Any]) -> None:
    with serving(["echo out; echo err >&2; exit 3"]) as (url, seen):
        assert run(url).returncode == 0
    _, last = seen
    prompt, said, output = last["messages"]
    assert prompt == {"role": "user", "content": "Début"}
    assert said["reasoning_content"] == "Try."
    assert said["tool_calls"][0]["function"]["name"] == "bash"
    assert output["content"] == "out\nerr\n\n[exit code 3]"
    assert output["tool_call_id"] == said["tool_calls"][0]["id"]


def test_a_long_output_is_cut_and_a_background_process_is_not_waited_for(serving: Callable[..., Any]) -> None:
    with serving(["sleep 5 & seq 100000"]) as (url, seen):
        assert run(url).returncode == 0
    output = seen[-1]["messages"][-1]["content"]
    assert output.startswith("1\n2\n")
    assert output.endswith("99999\n100000\n")
    assert len(output) < 21_000


def test_the_work_counts_if_the_conversation_outgrows_the_context(serving: Callable[..., Any]) -> None:
    with serving(["seq 100000"], context=10_000) as (url, seen):
        assert run(url).returncode == 0
    assert len(seen) == 1
    with serving(["true"], context=100) as (url, seen):
        assert "400" in run(url).stderr
    assert not seen


def test_a_server_that_is_gone_is_a_failure_of_the_connection(serving: Callable[..., Any]) -> None:
    with serving(["true"]) as (url, _):
        pass
    code = PROGRAM.read_text().replace("ATTEMPTS = 4", "ATTEMPTS = 1")
    done = subprocess.run([sys.executable, "-I", "-c", code, url, "key", "m", "[]"], capture_output=True)
    assert done.returncode == 97
