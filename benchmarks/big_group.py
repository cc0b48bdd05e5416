"""How long commands take on a group of many runs: planned ones, which have no folder, and settled ones.

    python benchmarks/big_group.py [--runs 10000]

The backend is the imagined one of the tests; no run is started.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

from attrs import evolve

TESTS = Path(__file__).resolve().parent.parent / "tests" / "controller"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args()
    sys.path.insert(0, str(TESTS))
    import processes

    with tempfile.TemporaryDirectory() as folder:
        shell = processes.Shell(Path(folder), Path(folder) / "data")
        code, output = shell.call(*shell.run_arguments("first", 1))
        assert code == 0, output
        make_group(shell, "settled", options.runs)
        settle(shell, options.runs)
        make_group(shell, "planned", options.runs)
        for words in (
            ["runs", "list"],
            ["runs", "list", "settled"],
            ["runs", "list", "planned"],
            ["runs", "list", "settled", "--json"],
            ["runs", "list", "planned", "--json"],
            ["runs", "resume", "settled"],
            ["report", "settled"],
            ["runs", "cancel", "planned"],
        ):
            call(shell, *words)
        print(f"{options.runs} runs in each group")


def make_group(shell: ModuleType, name: str, runs: int) -> None:
    from mlecore.runs.planning import make_plan
    from mlecore.runs.store import create_group

    plan = make_plan(
        {
            "agents": [{"name": "worker"}],
            "competitions": ["coins"],
            "seeds": runs,
            "backend": {"name": "folders", "options": {"root": str(shell.backend_root)}},
            "execution": {"detect": False},
        }
    )
    create_group(shell.runs, name, plan, (str(shell.data),))


def settle(shell: ModuleType, runs: int) -> None:
    """Folders as graded runs leave them, after the one that was really run."""
    from mlecore.runs.digests import with_digests
    from mlecore.runs.store import load_group, open_group, planned_records

    [model] = load_group(shell.runs / "first")
    grade = json.loads((model.folder / "grade.json").read_text())
    group = open_group(shell.runs / "settled")
    events = []
    for record in planned_records(group):
        changes = {name: getattr(record, name) for name in ("uid", "name", "group", "group_uid", "folder", "seed")}
        made = evolve(model, **changes)
        job = f"mle-{record.uid}-1"
        made = made.with_attempt(job=job, handle=evolve(made.attempts[0].handle, name=job))
        record.folder.mkdir()
        (record.folder / "grade.json").write_text(json.dumps({**grade, "run": record.uid}, indent=1))
        (record.folder / "run.json").write_bytes(with_digests(made).dumps())
        for part in ("logs", "submission", "attempts"):
            (record.folder / part).mkdir()
        events += [f"{hook} {record.uid} 1\n" for hook in ("run_started", "run_finished", "run_graded")]
    (group.folder / "extensions.log").write_text("".join(events))
    assert len(load_group(group.folder)) == runs


def call(shell: ModuleType, *words: str) -> None:
    began, used = time.monotonic(), children_cpu()
    done = subprocess.run(
        [sys.executable, "-c", "from mlecore.cli import main; main()", *words],
        env=shell.env,
        cwd=shell.root,
        capture_output=True,
        check=False,
    )
    seconds = time.monotonic() - began
    used = children_cpu() - used
    line = f"mlecore {' '.join(words):28} {seconds:7.2f} s, {used:6.2f} s CPU"
    print(f"{line}  exit {done.returncode}  {len(done.stdout) / 1e6:.1f} MB", flush=True)


def children_cpu() -> float:
    """Seconds that the commands called so far have used; the clock also counts what else the machine does."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    main()
