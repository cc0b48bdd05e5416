"""Run by Windows' Python: what becomes of workers and of what they start. Prints a line for each."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import time
from pathlib import Path

from mlecore.workers import Worker, WorkerCrash, WorkerFailure, serve

_SYNCHRONIZE, _STILL_RUNNING = 0x100000, 258


def work(request, say):
    if request["do"] == "crash":
        sys.exit(3)
    if request["do"] == "wait":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(request["pids"]).write_text(str(child.pid))
        time.sleep(600)
    return request["do"]


def running(pids):
    kernel = ctypes.WinDLL("kernel32")
    handle = kernel.OpenProcess(_SYNCHRONIZE, 0, int(pids.read_text()))
    return bool(handle) and kernel.WaitForSingleObject(handle, 0) == _STILL_RUNNING


def try_all(pids):
    with Worker("workers_there") as worker:
        print(worker.ask({"do": "answer"}))
        try:
            worker.ask({"do": "crash"})
        except WorkerCrash as crash:
            print("crash", crash.status, worker.alive)
    try:
        Worker("workers_there").ask({"do": "wait", "pids": str(pids)}, seconds=10)
    except WorkerFailure as failure:
        time.sleep(1)
        print(failure, running(pids))
    pids.unlink()
    caller = subprocess.Popen([sys.executable, __file__, "caller", pids])
    while not pids.is_file() or not pids.read_text():
        time.sleep(0.1)
    print("caller", running(pids))
    caller.kill()
    time.sleep(2)
    print("killed", running(pids))


if __name__ == "__main__":
    match sys.argv[1:]:
        case [pids]:
            try_all(Path(pids))
        case ["caller", pids]:
            Worker("workers_there").ask({"do": "wait", "pids": pids})
        case _:
            serve(work, before_fork=lambda request: None)
