"""Agent dummy, which explores its sandbox as an adversary would, finds nothing in a pod."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mle_backend_kubernetes.network import Probe

    from conftest import Lab

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.xdist_group("kubernetes")]

MODEL = ("--model", "m", "--endpoint", "https://model.example.com", "-A", "network=llm")


def test_dummy_finds_nothing(lab: Lab, probe: Probe, command: Callable[..., str], tmp_path: Path) -> None:
    enforced = bool(probe.known)
    command("prepare", "optical-digits")

    def findings(group: str, *words: str) -> list[dict[str, Any]]:
        dummy = ["--agent", "dummy", *words, "--competition", "optical-digits", "--time-limit", "15m", "--group", group]
        command("run", *dummy)
        (run,) = (tmp_path / "runs" / group).glob("*/run.json")
        record = json.loads(run.read_bytes())
        sandbox = record["sandbox"]
        assert record["installed"][0].startswith("CPython 3.")
        level = "enforced" if enforced else "absent"
        assert (sandbox["network"]["level"], sandbox["network_verified"]) == (level, enforced)
        found: list[dict[str, Any]] = json.loads((run.parent / "logs/probe.json").read_text())["findings"]
        return found

    with ThreadPoolExecutor() as pool:
        results = [pool.submit(findings, "none"), pool.submit(findings, "llm", *MODEL)]
    for result in results:
        bad = [each for each in result.result() if not each["ok"]]
        assert len(result.result()) > 30
        assert bad == [] if enforced else all(each["check"].startswith("network_") for each in bad)
