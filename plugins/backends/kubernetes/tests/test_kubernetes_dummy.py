"""Agent dummy, which explores its sandbox as an adversary would, finds nothing in a pod."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes")]

MODEL = ("--model", "m", "--endpoint", "https://model.example.com", "-A", "network=llm")


@pytest.mark.parametrize("words", [(), MODEL], ids=["none", "llm"])
def test_dummy_finds_nothing(lab: Lab, command: Callable[..., str], tmp_path: Path, words: tuple[str, ...]) -> None:
    enforced = lab.backend.describe().network_verified
    command("prepare", "optical-digits")
    command("run", "--agent", "dummy", *words, "--competition", "optical-digits", "--time-limit", "5m", "--group", "g")
    (run,) = (tmp_path / "runs/g").glob("*/run.json")
    findings = json.loads((run.parent / "logs/probe.json").read_text())["findings"]
    bad = [each for each in findings if not each["ok"]]
    sandbox = json.loads(run.read_bytes())["sandbox"]
    assert (sandbox["network"]["level"], sandbox["network_verified"]) == (
        ("enforced", True) if enforced else ("absent", False)
    )
    assert len(findings) > 30
    assert bad == [] if enforced else all(each["check"].startswith("network_") for each in bad)
