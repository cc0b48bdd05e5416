"""What an agent can see and change from inside a sandbox: its own run, and nothing else."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from mlecore_sandboxes import bubblewrap

pytestmark = pytest.mark.sandbox


def test_other_folders_of_this_machine_are_not_there(lab: Any, tmp_path: Path) -> None:
    (lab.folder / "private").mkdir()
    answers = lab.folder / "private" / "answers.csv"
    answers.write_text("1,0\n")
    checkout = Path(__file__).parent
    labs = [answers, lab.backend._root / "jobs", checkout, Path.home() / ".ssh", Path("/etc/shadow"), Path("/var/log")]
    script = (
        'for p in "$@"; do if [ -e "$p" ]; then echo "sees $p"; fi; done; ls /etc; ls -d /tmp/* /var/tmp/* 2>/dev/null'
    )
    _, output = lab.run(argv=("/bin/sh", "-c", script, "sh", *map(str, labs)))
    assert "sees" not in output
    assert not {"shadow", "ssh", "hostname.conf", "gshadow"} & set(output.split())
    assert str(tmp_path) not in output


def test_the_agent_has_no_rights(lab: Any) -> None:
    _, output = lab.run("id -u; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; cat /proc/self/uid_map")
    lines = output.split("\n")
    assert lines[0] != "0"
    assert "CapEff:\t0000000000000000" in lines and "NoNewPrivs:\t1" in lines
    outside = int(lines[0]) if os.geteuid() == 0 else os.geteuid()
    assert outside != 0


def test_only_its_own_folders_can_be_written(lab: Any) -> None:
    script = """
        for folder in / /usr /etc /home/data /opt/mlecore /proc/sys/kernel /sys /run /var /root /dev; do
            touch "$folder/x" 2>/dev/null && echo "wrote $folder"
        done
        echo > /home/data/train.csv && echo "changed the data"
        chmod 777 /opt/mlecore/init && echo "changed init"
        for folder in /home /home/submission /home/code /home/logs /tmp /dev/shm /var/tmp; do
            touch "$folder/x" || echo "cannot write $folder"
        done
    """
    _, output = lab.run(f"({script}) 2>/dev/null")
    assert output == ""
    assert (lab.dataset.public / "train.csv").read_text() == "id,target\n1,0\n"


def test_files_in_the_root_mode_belong_to_a_user_of_the_job(lab: Any) -> None:
    if os.geteuid() != 0:
        pytest.skip("the controller is not root")
    owners = set()
    for number in (1, 2):
        handle = lab.start("touch code/x", name=f"mle-owner-{number}")
        lab.wait(handle)
        owners.add((lab.backend._root / "jobs" / handle.name / "home/code/x").stat().st_uid)
    assert len(owners) == 2 and 0 not in owners


def test_abstract_sockets_of_the_host_are_out_of_reach(lab: Any) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0mlecore-test-abstract")
        server.listen()
        script = (
            "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0mlecore-test-abstract'); print('reached')"
        )
        assert "reached" not in lab.run(argv=("python3", "-c", script))[1]


def test_a_sandbox_that_cannot_be_made_is_an_infrastructure_failure(lab: Any) -> None:
    job = lab.job("/bin/true")
    whole = bubblewrap.command_line
    bubblewrap.command_line = lambda *a: _broken(whole(*a))  # type: ignore[assignment]
    try:
        handle = lab.backend.start(job)
    finally:
        bubblewrap.command_line = whole
    status = lab.wait(handle)
    assert status.phase == "exited" and status.infra_failure and "no-such-folder" in status.reason


def _broken(line: Any) -> Any:
    line.outer.extend(["--ro-bind", "/no-such-folder", "/x"])
    return line
