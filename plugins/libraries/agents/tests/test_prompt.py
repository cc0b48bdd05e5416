"""What agents with a model share, outside of the sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from mle_lib_agents import model
from mle_lib_agents.usage import json_lines, reported, total

from mlecore.controller.instructions import instructions
from mlecore.errors import UsageError
from mlecore_testing.tasks import a_task

TEXTS = instructions(time_limit=5400, hardware="2 CPUs, one GPU", network="llm")
TASK = a_task(
    title="Roses",
    instructions=TEXTS.text,
    description="# Roses\nCount them.",
    options={"prompt": "Do it in R."},
    model="m",
    endpoint="http://gateway:1/v1",
)


def test_a_run_without_a_model_says_how_to_name_one() -> None:
    assert model(TASK, "mine") == "m"
    with pytest.raises(UsageError, match="agent mine needs a model") as caught:
        model(evolve(TASK, model=None), "mine")
    assert "--model" in str(caught.value.fix)


def test_usage_is_summed_from_what_can_be_read(tmp_path: Path) -> None:
    lines = [
        json.dumps({"usage": {"model": "a", "input": 10, "output": 2}}),
        json.dumps({"message": "no usage"}),
        '{"usage": {"model": "b\\u001b[2J", "input": -5, "output": true, "cost": 1e999}}',
        "[" * 100_000,
        '{"usage": {"model": "b", "input": 1, "output": 1, "cost": 0.5}}',
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))
    usage = reported("mine.jsonl")(tmp_path)
    assert usage is not None
    assert (usage.models, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (("a", "b"), 11, 3, 0.5)


def test_no_logs_give_no_usage(tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to("/etc/passwd")
    assert list(json_lines(tmp_path / "link.jsonl", tmp_path)) == []
    assert reported("none.jsonl")(tmp_path) is None
    assert total([]) is None
