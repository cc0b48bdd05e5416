"""Restart a Docker engine in order and abruptly, with and without its default bridge, and see whose fault each end is.

    python benchmarks/docker_restarts.py [--rounds 5]      # of each of the four kinds of restart

Needs root, dockerd, unshare and an engine with the base image, which is left alone: the engine that is restarted is a
second one with its own folders, socket and network namespace. In each round, a job finishes and another asks its own
init to end; both are looked at. Then the restart ends two jobs, one of which ignores SIGTERM, and after it another job
asks its init to end. Only the two that the restart ended may be infrastructure failures. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plugins/backends/docker/tests"))

from mle_backend_docker.engine import Engine  # noqa: E402

from conftest import Lab, OwnEngine  # noqa: E402

SUICIDE = "kill -TERM 1; sleep 30"
KINDS = [(flags, number) for flags in ((), ("--bridge=none",)) for number in (signal.SIGTERM, signal.SIGKILL)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    folder = Path(tempfile.mkdtemp(prefix="mlecore-engine-"))
    folder.chmod(0o755)
    own, right, wrong, began = OwnEngine(folder, folder / "data"), Counter[str](), 0, time.monotonic()
    try:
        own.start()
        own.load()
        for flags, number in KINDS:
            own.end()
            own.flags = flags
            own.start()
            kind = f"{'without' if flags else 'with'} a bridge, {number.name}"
            for _ in range(rounds):
                found = restart(own, number, folder)
                for line in found:
                    print(f"{kind}: {line}", flush=True)
                wrong += bool(found)
                right[kind] += not found
            print(f"{kind}: {right[kind]} of {rounds} restarts judged right", flush=True)
    finally:
        own.close()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{right.total()} of {right.total() + wrong} restarts judged right; {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


def restart(own: OwnEngine, number: signal.Signals, folder: Path) -> list[str]:
    """One restart; what was judged wrong."""
    lab = Lab(Engine(own.host), folder)
    finished, suicide = lab.start("echo id,y >submission/submission.csv; exit 3"), lab.start(SUICIDE)
    expected = {finished: False, suicide: False}
    found = {handle: lab.wait(handle) for handle in expected}
    polite = lab.start("trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done")
    stubborn = lab.start("trap '' TERM; echo up; while :; do sleep 0.1; done", grace=3.0)
    for handle in (polite, stubborn):
        lab.said(handle, "up")
        expected[handle] = True
    own.end(number)
    own.start()
    late = lab.start(SUICIDE)
    expected[late] = False
    found |= {handle: lab.wait(handle) for handle in (polite, stubborn, late)}
    found[finished] = lab.wait(finished)  # a result stays one
    names = {finished: "finished", suicide: "suicide", polite: "polite", stubborn: "stubborn", late: "late suicide"}
    lab.clear()
    return [
        f"{names[handle]}: {found[handle]}"
        for handle, infra in expected.items()
        if found[handle].infra_failure != infra or found[handle].phase != "exited"
    ]


if __name__ == "__main__":
    sys.exit(main())
