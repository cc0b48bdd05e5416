"""Do to an experiment on a Slurm cluster all that can happen there, and see that no run is lost or graded twice.

    python benchmarks/slurm_faults.py [--only FAULT]... [--runs 3] [--seconds 8] [--outage 120]
    python benchmarks/slurm_faults.py --list

Needs root on a cluster that may be broken: it kills Slurm's servers, takes nodes away and fills disks, and puts all of
it right again. Each fault is done to a group of its own. Afterwards every run must be graded once, with the right
score; infrastructure failures must have been retried, and nothing else; and no job, process or file may be left in
Slurm's queue, the state folder or on scratch. Exit code 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import _slurm_commands  # noqa: F401 - each registers its faults
import _slurm_jobs  # noqa: F401
import _slurm_machines  # noqa: F401
import _slurm_servers  # noqa: F401
from _slurm_cluster import LEFT, until
from _slurm_fault import FAULTS, Fault
from _slurm_lab import Case, processes

from mlecore.runs.store import grade_of


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="FAULT", help="fault, or kind of faults")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8.0, help="that the agent of each run takes")
    parser.add_argument("--outage", type=float, default=120, help="seconds without slurmctld")
    parser.add_argument("--at-once", type=int, default=4, help="faults that harm nobody else's jobs")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = [each for each in FAULTS if not options.only or {each.name, each.kind} & set(options.only)]
    if options.list:
        print("\n".join(f"{each.kind:12} {each.name:32} {each.words}" for each in chosen))
        return 0
    with tempfile.TemporaryDirectory(prefix="mlecore-faults-") as name:
        root = Path(name)
        root.chmod(0o755)
        code, output = processes.Shell(root, root / "data").call("prepare", "coins")
        assert code == 0, output

        def report(each: Fault) -> bool:
            began = time.monotonic()
            case = Case(root / each.name, options.runs, options.seconds, options.outage)
            told = tried(each, case)
            print(f"{each.kind:10} {each.name:30} {time.monotonic() - began:4.0f} s  {told}", flush=True)
            return told.startswith("wrong")

        with ThreadPoolExecutor(options.at_once) as pool:
            wrong = sum(pool.map(report, (each for each in chosen if not each.alone)))
        wrong += sum(report(each) for each in chosen if each.alone)
    print(f"{len(chosen)} faults, {wrong} wrong")
    return int(wrong > 0)


def tried(each: Fault, case: Case) -> str:
    try:
        return check(case, each, each.do(case))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"wrong: {type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})\n{case.said()}"
    finally:
        case.close()


def check(case: Case, each: Fault, retried: int) -> str:
    """In words, what became of the runs. Raises AssertionError."""
    if case.controller is not None:
        case.end()
    records = case.records()
    state = "graded" if each.end == "oom" else each.end
    assert len(records) == case.runs, f"{len(records)} runs"
    assert Counter(record.state for record in records) == {state: case.runs}, [record.state for record in records]
    for record in records:
        said = f"{record.name}: {record.ended}, {record.reason}"
        earlier = record.attempts[:-1]
        assert all(attempt.infra_failure for attempt in earlier), earlier
        hit = each.end == "oom" and record.ended == "oom"
        if state == "graded":
            assert record.gradings == 1 and not record.attempts[-1].infra_failure, said
            assert record.ended == ("oom" if hit else "finished"), said
            grade = grade_of(record.folder)
            expected = (None, "none") if hit else (0.6, "graded")
            assert grade["run"] == record.uid and (grade["score"], grade["status"]) == expected, grade
    assert each.end != "oom" or [record.ended for record in records].count("oom") == 1, "not one out of memory"
    again = [record for record in records if len(record.attempts) > 1]
    assert len(again) == retried if retried in (0, case.runs) else len(again) >= retried, f"{len(again)} retried"
    events = [json.loads(line) for line in case.shell.notes.read_text().splitlines()]
    graded = Counter(event["run"] for event in events if event["event"] == "graded")
    assert set(graded.values()) <= {1}, graded
    until(lambda: not case.left(), f"nothing left, not {case.left()}", LEFT)
    why = Counter(attempt.reason for record in again for attempt in record.attempts[:-1])
    words = "; ".join(f"{count} retried: {reason}" for reason, count in why.items())
    return words or {"graded": "all graded at the first attempt"}.get(each.end, each.end)


if __name__ == "__main__":
    sys.exit(main())
