"""The way of a supervisor into a sandbox of Apptainer. Bubblewrap stands for Apptainer, which few machines have."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlecore_sandboxes import apptainer

pytestmark = pytest.mark.sandbox

_STAND_IN = f"""#!{sys.executable}
import os, sys
argv = iter(sys.argv[1:])
words = ["bwrap", "--unshare-pid", "--as-pid-1", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"]
mounts = []
for word in argv:
    if word == "--mount":
        said = dict(part.strip('"').partition("=")[::2] for part in next(argv).split(","))
        mounts += ["--ro-bind" if "ro" in said else "--bind", said["source"], said["destination"]]
    elif word in ("--network", "--hostname", "--no-mount", "--pwd", "--bind"):
        next(argv)
    elif word == "--net":
        words.append("--unshare-net")
    elif word.startswith("/"):
        words += ["--ro-bind", word, "/", "--proc", "/proc", "--dev", "/dev", *mounts, "--", *argv]
os.execvp("bwrap", words)
"""


@pytest.fixture
def lab(make_lab: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "apptainer").write_text(_STAND_IN)
    (folder / "apptainer").chmod(0o755)
    monkeypatch.setattr(apptainer, "program", lambda: str(folder / "apptainer"))
    lab = make_lab()
    monkeypatch.setattr(lab.backend, "_isolation", "apptainer")
    return lab


def test_a_job_has_its_variables_limits_and_exit_code(lab: Any) -> None:
    script = 'read -r LINE; echo "$WORD $HOME $LINE"; ulimit -c; ulimit -f; cat data/*; '
    script += "tail -n +3 /proc/net/dev | cut -d: -f1; exit 7"
    status, output = lab.run(script, env={"WORD": "two words"}, stdin=b"a line\n", disk=1 << 20)
    assert (status.phase, status.exit_code, status.infra_failure) == ("exited", 7, False), (status, output)
    assert output.splitlines()[:5] == ["two words /home a line", "0", "2048", "id,target", "1,0"]
    assert output.split()[-1] == "lo"


def test_the_first_process_is_init_and_out_of_reach(lab: Any) -> None:
    script = "tr '\\0' ' ' </proc/1/cmdline; echo; cat /proc/1/mem; kill -9 1; ls /run/mlecore/door; sleep 0.2; echo on"
    status, output = lab.run(script)
    assert status.exit_code == 0 and output.endswith("on\n"), output
    assert output.startswith("/bin/sh /opt/mlecore/init") and "/proc/1/mem: Permission denied" in output
    assert "cannot access '/run/mlecore/door'" in output  # nobody else is let in


def test_a_secret_reaches_the_job_and_no_disk(lab: Any, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "planted-4711")
    handle = lab.start("echo $KEY; exec sleep 300", secrets=("KEY",))
    lab.until(lambda: "planted" in lab.printed(handle))
    files = [path for path in state.rglob("*") if path.is_file() and path.name != "output"]
    assert files and not [path for path in files if b"4711" in path.read_bytes()]


def test_the_relay_listens_inside(lab: Any) -> None:
    program = """
import urllib.request
try:
    urllib.request.urlopen("http://forbidden.invalid/", timeout=120)
except OSError as error:
    print(error)
"""
    status, output = lab.run(argv=("python3", "-c", program), network="llm", allow=("allowed.invalid:443",))
    assert status.exit_code == 0 and "403" in output, (status, output)


def test_an_apptainer_that_fails_is_no_result(lab: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin" / "apptainer").write_text("#!/bin/sh\necho FATAL: no loop devices >&2; exit 255\n")
    status, _ = lab.run("/bin/true")
    assert status.infra_failure and "no loop devices" in status.reason
