"""The sandbox as an agent sees it, beside what the kit and the agent dummy try (test_docker_runs.py)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Lab

pytestmark = pytest.mark.docker


def test_its_folders_cannot_be_replaced(lab: Lab) -> None:
    said = lab.run(
        "mv /home/submission /home/logs/s; ln -s /etc /home/l; rm -rf /home/data /opt/mlecore/init; ls /home"
    )
    assert "submission" in said.splitlines() and "l" not in said.splitlines() and "data" in said.splitlines()


def test_any_uid_will_do(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(user="41234:41235")
    said = lab.run("id -u; id -g; touch submission/x agent/x && echo wrote; echo $HOME; grep Seccomp: /proc/1/status")
    assert said.split() == ["41234", "41235", "wrote", "/home/agent", "Seccomp:", "2"]


BOMB = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0: time.sleep(1000)
    except OSError: pass
"""


def test_a_fork_bomb_that_leaves_init_no_process_ends_in_time(lab: Lab) -> None:
    env = {"PROGRAM": BOMB, "MLECORE_SNAPSHOT_BYTES": "1000", "MLECORE_SNAPSHOT_EVERY": "0.3"}
    handle = lab.start('exec python3 -c "$PROGRAM"', env=env, processes=64, time_limit=3.0, grace=0.5)
    status = lab.wait(handle)
    assert (status.exit_code, status.reason) == (124, "its time was up")


def test_standard_input_and_a_terminal(lab: Lab) -> None:
    assert lab.run("[ -t 1 ] && echo terminal", terminal=True).split() == ["terminal"]
    assert lab.run("[ -t 1 ] || echo none; cat", stdin=b"one\ntwo\n") == "none\none\ntwo\n"


def test_secrets_reach_the_agent_and_no_record_of_the_engine(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    value = "sk-'quoted' $HOME \\ \nsecond line"
    monkeypatch.setenv("OPENAI_API_KEY", value)
    handle = lab.start(
        "python3 -c \"import os, json; print(json.dumps(os.environ['OPENAI_API_KEY']))\"; ls -A .mlecore",
        secrets=("OPENAI_API_KEY",),
    )
    first, *rest = lab.printed(handle).splitlines()
    assert json.loads(first) == value
    assert rest == []
    assert "second line" not in json.dumps(lab.engine.api.inspect_container(handle.name))


def test_labels_stand_on_everything(make_lab: Callable[..., Lab]) -> None:
    lab = make_lab(labels="team=vision,cost=7")
    lab.start("true", labels={"competition": "toy"}, network="open")
    [found] = lab.engine.api.containers(all=True, filters={"label": ["team=vision", "cost=7", "competition=toy"]})
    assert found["Labels"]["org.mlecore.group"] == lab.group
    assert len(lab.engine.api.volumes(filters={"label": f"org.mlecore.group={lab.group}"})["Volumes"]) == 3
