"""A job from its start to its removal, and what happens to it when somebody dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Handle
from mlecore_jobs.supervise import processes
from mlecore_jobs.supervise.spec import JobSpec, read_spec
from mlecore_sandboxes import folders

HERE = Path(__file__).parent


def read_state(handle: Handle) -> dict[str, Any]:
    return dict(json.loads((folders.folder_of(handle) / "state.json").read_text()))


def spec_of(handle: Handle) -> JobSpec:
    spec = read_spec(str(folders.folder_of(handle)))
    assert spec is not None
    return spec


def supervisor(handle: Handle) -> int:
    return int(read_state(handle)["pid"])


def test_remove_leaves_nothing(any_lab: Any, state: Path) -> None:
    handle = any_lab.start("mkdir -p code/a/b; touch code/a/b/c; chmod 0 code/a; sleep 100")
    spec = spec_of(handle)
    any_lab.until(lambda: bool(processes.marked(spec)))  # soon enough to meet a sandbox that is still being made
    any_lab.backend.remove(handle)
    any_lab.backend.remove(handle)
    assert any_lab.status(handle).phase == "gone"
    assert any_lab.backend.list_jobs("g") == {}
    assert [path.name for folder in ("jobs", "new", "trash") for path in (state / folder).glob("*")] == []
    assert processes.marked(spec) == []


def test_a_job_outlives_its_controller_and_keeps_its_limit(any_lab: Any) -> None:
    """The controller is killed as hard as can be; another process finds the job, which has ended on time."""
    script = """
        import os, signal, sys
        from pathlib import Path
        sys.path.insert(0, sys.argv[1])
        from conftest import Lab
        from mlecore_sandboxes.machine import Machine
        lab = Lab(Machine({"isolation": sys.argv[2]}), Path(sys.argv[3]))
        lab.start("echo 1 > submission/s.csv; sleep 100", time_limit=2.0, grace=0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    isolation = "bubblewrap" if str(any_lab.backend.home("x")) == "/home" else "none"
    argv = [sys.executable, "-c", textwrap.dedent(script), str(HERE), isolation, str(any_lab.folder)]
    assert subprocess.run(argv, check=False).returncode == -signal.SIGKILL
    handle = any_lab.backend.list_jobs("g")["mle-test-1"]
    assert any_lab.wait(handle).exit_code == 124
    fetched, into = any_lab.fetch(handle, "submission/*.csv", ".mlecore/*.json")
    assert (into / "submission/s.csv").read_text() == "1\n"
    ended = json.loads((into / ".mlecore/exit.json").read_text())
    assert ended["timed_out"] is True and 2 <= ended["seconds"] < 100
    assert fetched.complete


def test_a_killed_supervisor_is_an_infrastructure_failure_and_takes_its_tree_along(any_lab: Any, state: Path) -> None:
    handle = any_lab.start("(setsid sleep 4711 &) ; sleep 4711")
    spec = spec_of(handle)
    any_lab.until(lambda: any_lab.status(handle).phase == "running")
    first = int(read_state(handle)["init"])
    os.kill(supervisor(handle), signal.SIGKILL)
    any_lab.until(lambda: any_lab.status(handle).phase == "exited")
    status = any_lab.status(handle)
    assert status.infra_failure and status.exit_code is None and "killed" in status.reason
    assert status.in_doubt == (read_state(handle)["cgroup"] is None)
    any_lab.until(lambda: not processes.started(first))
    assert processes.marked(spec) == []


def test_a_job_ends_whose_folder_was_deleted(any_lab: Any) -> None:
    """As by a controller that took it for lost, whose node came back."""
    handle = any_lab.start("echo up; exec sleep 60")
    any_lab.until(lambda: any_lab.printed(handle) == "up\n")
    state, folder = read_state(handle), folders.folder_of(handle)
    folder.rename(folder.parent.parent / "deleted")
    any_lab.until(lambda: not any(processes.started(int(state[name])) for name in ("pid", "init")))


def test_a_sandbox_that_is_being_made_dies_with_its_supervisor(any_lab: Any) -> None:
    handle = any_lab.start("exec sleep 100")
    spec = spec_of(handle)
    any_lab.until(lambda: bool(processes.marked(spec)))
    os.kill(supervisor(handle), signal.SIGKILL)
    any_lab.until(lambda: any_lab.status(handle).phase == "exited")
    assert processes.marked(spec) == []


def test_a_reboot_is_an_infrastructure_failure(any_lab: Any) -> None:
    handle = any_lab.start("exec sleep 100")
    path = folders.folder_of(handle) / "state.json"
    any_lab.backend.stop(handle, 0.0)
    before = {**json.loads(path.read_text()), "phase": "running", "boot": "another"}
    path.write_text(json.dumps(before))
    status = any_lab.status(handle)
    assert status.phase == "exited" and status.infra_failure and "restarted" in status.reason


def test_a_number_given_out_again_is_not_the_supervisor(lab: Any) -> None:
    handle = lab.start("/bin/true") if lab.backend._sandbox_problem is None else pytest.skip("no bubblewrap")
    lab.wait(handle)
    path = folders.folder_of(handle) / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "phase": "running", "pid": os.getpid()}))
    assert lab.status(handle).infra_failure


def test_a_start_that_was_cut_off_goes_on(any_lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between giving the folder its final name and starting the supervisor."""
    from mlecore_sandboxes import supervision

    with monkeypatch.context() as patched:
        patched.setattr(supervision, "supervise", lambda *_: None)
        handle = any_lab.start("echo ran")
    assert any_lab.status(handle).phase == "pending"
    assert any_lab.backend.list_jobs("g") == {"mle-test-1": handle}
    assert any_lab.start("echo ran") == handle
    assert any_lab.wait(handle).exit_code == 0
    assert any_lab.printed(handle) == "ran\n"


def test_a_job_that_is_stopped_before_it_is_supervised_never_runs(
    any_lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlecore_sandboxes import supervision

    with monkeypatch.context() as patched:
        patched.setattr(supervision, "supervise", lambda *_: None)
        handle = any_lab.start("echo ran")
    any_lab.backend.stop(handle, 1.0)
    any_lab.start("echo ran")
    status = any_lab.status(handle)
    assert (status.phase, status.exit_code, status.reason) == ("exited", None, "stopped before it began")
    assert any_lab.printed(handle) == ""


def test_standard_input_is_typed_into_a_terminal(any_lab: Any) -> None:
    text = "".join(f"line {number}\n" for number in range(2000))
    status, output = any_lab.run("echo in all: $(wc -l)", terminal=True, stdin=text.encode())
    assert status.exit_code == 0 and "in all: 2000" in output  # beside the echo of what is typed


def test_signals_are_as_in_a_shell(any_lab: Any) -> None:
    """Python ignores some itself, which its children must not inherit."""
    _, output = any_lab.run("exec grep SigIgn /proc/self/status")
    ignored = int(output.split()[1], 16)
    assert not [number for number in (signal.SIGPIPE, signal.SIGXFSZ) if ignored >> (number - 1) & 1]


def test_a_disk_that_is_full_at_the_end_is_waited_for(any_lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlecore_sandboxes import supervision

    settings = "from mlecore_jobs.supervise import supervisor as m; m.RETRY = 0.1"
    launch = supervision._LAUNCH.replace("main(*", f"{settings}; main(*")
    assert launch != supervision._LAUNCH
    monkeypatch.setattr(supervision, "_LAUNCH", launch)
    handle = any_lab.start("while ! [ -e go ]; do sleep 0.05; done; exit 7")
    any_lab.until(lambda: any_lab.status(handle).phase == "running")
    folder = folders.folder_of(handle)
    partial = folder / f"state.json.{supervisor(handle)}.partial"
    partial.mkdir()  # nothing can be written there
    (folder / "home/go").touch()
    any_lab.until(lambda: (folder / "home/.mlecore/exit.json").exists())
    assert any_lab.status(handle).phase == "running"
    partial.rmdir()
    assert any_lab.wait(handle).exit_code == 7


def test_secrets_reach_the_process_and_no_file(any_lab: Any, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "s3cr3t-value")
    monkeypatch.setenv("OTHER_KEY", "not-asked-for")
    script = "echo ${#TEST_KEY} ${OTHER_KEY:-none}; until [ -e go ]; do sleep 0.05; done"
    handle = any_lab.start(script, secrets=("TEST_KEY",))
    words = [Path("/proc", str(pid), "cmdline").read_bytes() for pid in (supervisor(handle), read_state(handle)["pid"])]
    (folders.folder_of(handle) / "home/go").touch()
    any_lab.wait(handle)
    assert any_lab.printed(handle) == "12 none\n"
    assert not any(b"s3cr3t" in text for text in words)
    written = [path for path in state.rglob("*") if path.is_file() and not path.is_symlink()]
    assert written and not any(b"s3cr3t" in path.read_bytes() for path in written)


def test_a_handle_of_another_machine_is_out_of_reach_not_gone(lab: Any) -> None:
    with pytest.raises(BackendUnreachable, match="elsewhere"):
        lab.status(Handle(name="mle-a-1", id="elsewhere:/x/jobs/mle-a-1"))


@pytest.mark.parametrize("id_", ["", "/etc", "{host}:/etc", "{host}:/x/jobs/other", "{host}:/x/../mle-a-1"])
def test_a_forged_handle_is_refused(lab: Any, id_: str) -> None:
    import socket

    with pytest.raises(BackendError):
        lab.backend.remove(Handle(name="mle-a-1", id=id_.format(host=socket.gethostname())))


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 200])
def test_a_name_that_is_none_is_refused(lab: Any, name: str) -> None:
    with pytest.raises(BackendError):
        lab.start("/bin/true", name=name)


def test_what_killed_controllers_left_is_swept(any_lab: Any, state: Path) -> None:
    (state / "trash/mle-a-1.x/home").mkdir(parents=True)
    (state / "new/mle-b-1.of-a-dead-one").mkdir(parents=True)
    minute_ago = time.time() - 60
    os.utime(state / "new/mle-b-1.of-a-dead-one", (minute_ago, minute_ago))
    (state / "new/mle-c-1.fresh").mkdir()
    with folders.new(state, "mle-d-1") as at_work:
        os.utime(at_work, (minute_ago, minute_ago))
        any_lab.backend.preflight()
        assert {path.name for path in state.glob("*/mle-*")} == {"mle-c-1.fresh", at_work.name}
