"""Worker processes: whatever the work does to its process, the caller gets a reply, and nothing outlives the caller."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlecore.workers.pool import Worker, WorkerCrash, WorkerError, WorkerFailure

MODULE = """
import os, re, signal, subprocess, sys, time
from mlecore.errors import UsageError
from mlecore.workers.pool import serve

seen = []

def work(request, say):
    seen.append(request["do"])
    match request["do"]:
        case "count":
            return len(seen)
        case "print":
            print("printed"); os.write(1, b"written\\n"); subprocess.run(["echo", "echoed"])
            say(progress=[1, 2, "half"])
            return "printed"
        case "exit":
            os._exit(request["code"])
        case "quit":
            sys.exit(0)
        case "kill":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "sleep":
            subprocess.Popen(["sleep", "600"])
            open(request["log"], "w").write(str(os.getpid()))
            time.sleep(600)
        case "hold":
            open(request["log"], "w").write(str(os.getpid()))
            re.match(r"(a+)+$", "a" * 60 + "b")  # never lets another thread run
        case "eat":
            return len(bytearray(2**31))
        case "raise":
            raise UsageError("it is wrong", fix="Do it right.")
        case "bug":
            return {}["missing"]
        case "odd":
            return {1, 2}

if __name__ == "__main__":
    serve(work, **({"before_fork": lambda request: seen.append("imported")} if FORKS else {}))
"""


@pytest.fixture(params=[False, True], ids=["one process", "forks"])
def module(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "mle_test_work.py").write_text(f"FORKS = {request.param}\n{MODULE}")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "mle_test_work"


@pytest.fixture
def worker(module: str, tmp_path: Path) -> Iterator[Worker]:
    with (tmp_path / "stderr").open("w") as stderr, Worker(module, stderr=stderr) as worker:
        yield worker


def wait_for(condition: Callable[[], object], seconds: float = 300.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def group_is_gone(process: int) -> bool:
    """Are a process, once known by its number, and all of its group gone? Zombies count as gone."""
    left = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    return not any(line.split()[0] == str(process) and "Z" not in line.split()[1] for line in left.splitlines())


def test_output_is_kept_apart_from_the_reply(worker: Worker, tmp_path: Path) -> None:
    messages: list[dict[str, object]] = []
    assert worker.ask({"do": "print"}, listen=messages.append) == "printed"
    assert messages == [{"progress": [1, 2, "half"]}]
    worker.close()
    assert {"written", "echoed"} <= set((tmp_path / "stderr").read_text().split())


def test_memory_is_kept_only_without_forks(worker: Worker, request: pytest.FixtureRequest) -> None:
    for _ in range(2):
        worker.ask({"do": "print"})
    forks = request.node.callspec.id == "forks"
    assert worker.ask({"do": "count"}) == (4 if forks else 3)  # before_fork was called three times; two forks are gone


@pytest.mark.parametrize(
    ("request_", "status"),
    [({"do": "exit", "code": 0}, 0), ({"do": "exit", "code": 7}, 7), ({"do": "kill"}, -11)],
)
def test_a_crash_is_reported_with_its_status(worker: Worker, request_: dict[str, object], status: int) -> None:
    with pytest.raises(WorkerCrash, match="ended without a result") as caught:
        worker.ask(request_)
    assert caught.value.status == status


def test_leaving_by_an_exception_is_a_crash(worker: Worker) -> None:
    with pytest.raises(WorkerCrash):
        worker.ask({"do": "quit"})


def test_errors_arrive_with_their_kind(worker: Worker) -> None:
    with pytest.raises(WorkerError, match="it is wrong\nDo it right") as caught:
        worker.ask({"do": "raise"})
    assert (caught.value.kind, caught.value.exit_code, caught.value.fix) == ("UsageError", 2, "Do it right.")
    with pytest.raises(WorkerFailure, match="failed: KeyError: 'missing'"):
        worker.ask({"do": "bug"})
    with pytest.raises(WorkerFailure, match="failed: TypeError"):
        worker.ask({"do": "odd"})
    assert worker.alive


def test_limits_of_memory_and_time(worker: Worker, tmp_path: Path) -> None:
    with pytest.raises(WorkerFailure, match="took more than its memory limit of 1 GB"):
        worker.ask({"do": "eat"}, memory_gb=1.0)
    log = tmp_path / "log"
    with pytest.raises(WorkerFailure, match=r"took more than its limit of 0\.5 s"):
        worker.ask({"do": "sleep", "log": str(log)}, seconds=0.5)
    assert not worker.alive
    with pytest.raises(WorkerFailure):
        worker.ask({"do": "count"})


def test_closing_ends_a_request_in_another_thread(worker: Worker, tmp_path: Path) -> None:
    log = tmp_path / "log"
    threading.Thread(target=lambda: wait_for(log.exists) and worker.close()).start()
    with pytest.raises(WorkerCrash):
        worker.ask({"do": "sleep", "log": str(log)})


CALLER = """
import sys
from mlecore.workers.pool import Worker
worker = Worker(sys.argv[1])
print(worker._process.pid, flush=True)
worker.ask({"do": sys.argv[2], "log": sys.argv[3]}, seconds=float(sys.argv[4]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("do", ["sleep", "hold"])
def test_all_that_it_has_started_ends_with_a_killed_caller(module: str, tmp_path: Path, do: str) -> None:
    """A watching thread cannot run while work holds the interpreter: then an alarm of the kernel ends it later."""
    log = tmp_path / "log"
    grace = "import mlecore.workers.pool as w; w._GRACE = 0\n"
    (tmp_path / "sitecustomize.py").write_text(grace if do == "hold" else "")
    argv = [sys.executable, "-c", CALLER, module, do, str(log), "1" if do == "hold" else "600"]
    caller = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert caller.stdout
    process = int(caller.stdout.readline())
    assert wait_for(lambda: log.exists() and log.read_text())
    caller.kill()
    caller.wait()
    caller.stdout.close()
    assert wait_for(lambda: group_is_gone(process))
