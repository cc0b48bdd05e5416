"""Agents that fill the disk on which groups and sandboxes lie: they end, their neighbours do not, and runs can be
cancelled."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from mlecore.controller.api import run
from mlecore.runs import requests
from mlecore.runs.store import read_record

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]
# Small files, as one of them cannot be larger than the limit; and it goes on for as long as there is no room.
FILL = """
i=0
while [ "$MLECORE_SEED" = 0 ]; do head -c 10000000 /dev/urandom >code/$i && i=$((i+1)); done
sleep 8
until cp /opt/mlecore/sample.csv submission/submission.csv; do sleep 1; done
"""
WRITE = "head -c 30000000 /dev/urandom >code/x; touch code/wait; while [ -e code/wait ]; do sleep 0.1; done"


class Lab:
    """Runs a script with two seeds at once; all is on a disk of 240 MB, without a reserve for root."""

    def __init__(self, disk, folder: Path, data: Path) -> None:
        self.disk, self.script, self.data = disk.at, folder / "agent.sh", data
        self.failed: list[BaseException] = []

    def run(self, script: str, **limits):
        self.script.write_text(script)
        return run(
            agent="command", competition="coins", options={"argv": "sh agent.sh"}, seeds=2, max_parallel=2, retries=0,
            time_limit="3m", runs=self.disk / "runs", data=[self.data], group="g", **limits,
        )  # fmt: skip

    def begin(self, script: str, **limits) -> threading.Thread:
        def go() -> None:
            try:
                self.run(script, **limits)
            except BaseException as error:
                self.failed.append(error)

        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        return thread

    def until(self, true) -> None:
        deadline = time.monotonic() + 300
        while not true():
            assert time.monotonic() < deadline and not self.failed, self.failed
            time.sleep(0.1)

    def state(self, seed: int) -> str:
        return read_record(self.disk / f"runs/g/command--coins--{seed}").state


@pytest.fixture
def lab(disk, tmp_path, data, monkeypatch):
    disk.unplug()
    subprocess.run(["tune2fs", "-m", "0", disk.image], check=True, capture_output=True)
    disk.mount()
    monkeypatch.setenv("MLECORE_VM_STATE", str(disk.at / "vm"))
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, data, *tmp_path.parents):  # the agent is another user, who must reach its data
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return Lab(disk, tmp_path, data)


def test_an_agent_that_fills_the_disk_ends_and_its_neighbour_goes_on(lab):
    full, other = lab.run(FILL)
    assert full.reason.startswith("wrote more than") and full.state == "graded"
    assert other.reason == "" and other.submission


def test_a_run_that_cannot_be_collected_can_be_cancelled(lab, capsys):
    thread = lab.begin(WRITE)
    lab.until(lambda: len(list(lab.disk.glob("vm/jobs/*/home/code/wait"))) == 2)
    with (lab.disk / "somebody's").open("wb") as out, pytest.raises(OSError, match="space"):
        while True:
            out.write(bytes(1 << 20))
            out.flush()
    for gate in lab.disk.glob("vm/jobs/*/home/code/wait"):
        gate.unlink()
    said: list[str] = []
    lab.until(lambda: said.append(capsys.readouterr().err) or "command--coins--0: collecting: " in "".join(said))
    requests.leave(lab.disk / "runs" / "g", "command--coins--0", "cancel")
    lab.until(lambda: lab.state(0) == "cancelled")
    lab.until(lambda: len(list(lab.disk.glob("vm/jobs/*"))) < 2)
    (lab.disk / "somebody's").unlink()
    lab.until(lambda: not thread.is_alive())
    assert "is held by command--coins--" in "".join(said) + capsys.readouterr().err and not lab.failed
