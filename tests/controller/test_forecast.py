"""What a group will take is said before it starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mlecore.backends import Capacity
from mlecore.cli import main
from mlecore.controller.capacity import forecast
from mlecore.runs.planning import make_plan

HERE = Capacity(cpus=64, memory=2**38)


def plan(limits: dict[str, Any], **execution: int):
    values = {"agents": [{"name": "a"}], "competitions": ["c"], "limits": limits, "execution": execution}
    return make_plan(values)


@pytest.mark.parametrize(
    ("limits", "execution", "capacity", "runs", "words"),
    [
        (
            {"cpus": 8},
            {},
            HERE,
            225,
            "at most 29d: 225 runs of up to 24h, 8 at once (64 CPUs, 8 a run); disk: no limit",
        ),
        (
            {"time": "1h"},
            {},
            HERE,
            100,
            "at most 2h: 100 runs of up to 1h, 64 at once (64 CPUs, and a run without --cpus",
        ),
        ({"time": "1h"}, {"max_parallel": 3}, None, 7, "at most 3h: 7 runs of up to 1h, 3 at once (--max-parallel)"),
        ({"time": "1h", "disk": "10GB"}, {}, HERE, 2, "2 at once (all of them); disk: up to 20.0 GB at once, "),
        ({"gpus": 1}, {}, HERE, 1, "no run fits backend vm now: 0 GPUs, 1 a run"),
    ],
)
def test_time_and_disk(tmp_path: Path, limits, execution, capacity, runs, words) -> None:
    assert words in forecast(plan(limits, **execution), capacity, runs, tmp_path)


def test_run_says_it_once(lab) -> None:
    words = ["--agent", "worker", "--competition", "coins", "--backend", "folders", "-B", f"root={lab.backend_root}"]
    call = ["run", *words, "--no-detect", "--group", "g", "--seeds", "3", "--time-limit", "1h"]
    call += ["--data", str(lab.data), "--runs", str(lab.runs)]
    said = CliRunner().invoke(main, call).output
    assert "at most 1h: 3 runs of up to 1h, 3 at once (all of them)" in said and "free in" in said
    assert "at most" not in CliRunner().invoke(main, call).output, "a group that is resumed has begun"
