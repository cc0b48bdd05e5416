"""Runs on containers from planning to report: the controller is killed, the engine restarts, and they come home."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mlecore_sandboxes.containers import names
from mlecore_sandboxes.containers.engine import Engine

if TYPE_CHECKING:
    from conftest import OwnEngine

pytestmark = pytest.mark.docker

WORK = """
until [ -e logs/go ]; do sleep 0.1; done
cp /opt/mlecore/sample.csv submission/submission.csv
echo made it
"""


class Control:
    """The command line, in its own folder."""

    def __init__(self, folder: Path, host: str) -> None:
        self.folder = folder
        self.env = {**os.environ, "MLECORE_DATA": str(folder / "data"), "DOCKER_HOST": host}

    def begin(self, *words: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-c", "from mlecore.cli import main; main()", *words]
        return subprocess.Popen(argv, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def call(self, *words: str) -> str:
        process = self.begin(*words)
        out, _ = process.communicate(timeout=600)
        assert process.returncode == 0, out.decode()
        return out.decode()

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_bytes()) for path in sorted(self.folder.glob("runs/g/*/run.json"))]


def let_go(engine: Engine) -> None:
    """Tell every agent at an engine to go on."""
    for found in engine.api.containers(filters={"label": f"{names.ROLE}=agent"}):
        touch = ["docker", "-H", engine.host, "exec", found["Id"], "touch", "/home/logs/go"]
        subprocess.run(touch, capture_output=True)  # it may have ended since


def labelled(engine: Engine, label: str = names.JOB) -> dict[str, int]:
    """How many objects of runs an engine has."""
    filters = {"label": label}
    return {
        "containers": len(engine.api.containers(all=True, filters=filters)),
        "networks": len(engine.api.networks(filters=filters)),
    }


def everything(engine: Engine) -> dict[str, int]:
    """Also volumes and images without a name, of an engine that nobody else uses."""
    volumes = engine.api.volumes()["Volumes"] or ()
    dangling = engine.api.images(filters={"dangling": True})
    return {**labelled(engine), "volumes": len(volumes), "dangling": len(dangling)}


@pytest.mark.slow
@pytest.mark.parametrize("live_restore", [True, False])
def test_killed_controller_restarted_engine_and_all_runs_come_home(
    own: OwnEngine, tmp_path: Path, live_restore: bool
) -> None:
    tmp_path.chmod(0o755)
    own.end()
    own.flags = ("--live-restore",) if live_restore else ()
    own.start()
    before = everything(Engine(own.host))
    control = Control(tmp_path, own.host)
    (tmp_path / "agent.sh").write_text(WORK)
    control.call("prepare", "optical-digits")
    plan = ["run", "--agent", "command", "-A", "argv=sh agent.sh", "--competition", "optical-digits", "--seeds", "2"]
    process = control.begin(*plan, "--backend", "docker", "--group", "g", "--time-limit", "15m", "--max-parallel", "2")
    deadline = time.monotonic() + 300
    while [each["state"] for each in control.records()] != ["running", "running"]:
        assert time.monotonic() < deadline and process.poll() is None, process.communicate()[0].decode()
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    own.end()
    own.start()
    process, deadline = control.begin("runs", "resume", "g"), time.monotonic() + 600
    while process.poll() is None:
        assert time.monotonic() < deadline, control.records()
        let_go(Engine(own.host))
        time.sleep(0.2)
    assert process.returncode == 0, process.communicate()[0].decode()
    records = control.records()
    assert [each["state"] for each in records] == ["graded", "graded"]
    # With live-restore a run outlives a restart; without, it is an infrastructure failure, and is tried again.
    ends = [[attempt["ended"] for attempt in each["attempts"]] for each in records]
    assert ends == ([["finished"]] * 2 if live_restore else [["lost", "finished"]] * 2)
    if not live_restore:
        assert "engine" in records[0]["attempts"][0]["reason"]
    assert all(each["image_digest"].startswith("sha256:") for each in records)
    sandboxes = [each["sandbox"] for each in records]
    assert all(each["network"]["level"] == "enforced" and not each["network_verified"] for each in sandboxes)
    assert everything(Engine(own.host)) == before


def test_dummy_finds_nothing_that_it_should_not(engine: Engine, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    control = Control(tmp_path, engine.host)
    control.call("prepare", "optical-digits")
    common = [
        "run",
        "--agent",
        "dummy",
        "--competition",
        "optical-digits",
        "--backend",
        "docker",
        "--time-limit",
        "15m",
    ]
    control.call(*common, "--group", "g")
    (tmp_path / "plan.toml").write_text(
        'competitions = ["optical-digits"]\nagents = [{ name = "dummy", options = { network = "llm" } }]\n'
        'backend = { name = "docker" }\nlimits = { time = "15m" }\nexecution = { model_check = false }\n'
        'model = { name = "m", endpoint = "https://example.com" }\n'
    )
    control.call("run", "--plan", str(tmp_path / "plan.toml"), "--group", "llm")
    for group in ("g", "llm"):
        [record] = (tmp_path / "runs" / group).glob("*/run.json")
        mine = f"{names.GROUP}={json.loads(record.read_bytes())['group_uid']}"
        assert set(labelled(engine, mine).values()) == {0}
        [probe] = (tmp_path / "runs" / group).glob("*/logs/probe.json")
        findings = json.loads(probe.read_text())["findings"]
        assert len(findings) > 20 and [each for each in findings if not each["ok"]] == []
    assert list((tmp_path / "runs/llm").glob("*/logs/relay.jsonl"))
