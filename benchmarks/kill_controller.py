"""Kill controllers of one experiment with SIGKILL, again and again, and see that no run is lost or graded twice.

python benchmarks/kill_controller.py [--kills 200] [--runs 400] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests" / "controller"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", choices=("folders", "vm"), default="folders")
    options = parser.parse_args()
    sys.path.insert(0, str(TESTS))
    from processes import Shell

    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(Path(folder), Path(folder) / "data")
        Path(folder).chmod(0o755)
        shell.env["MLECORE_VM_STATE"] = f"{folder}/vm"
        if options.backend == "folders":
            arguments = [*shell.run_arguments("g", options.runs, seconds="0.2"), "--max-parallel", "2"]
        else:
            script = Path(folder) / "agent.sh"
            script.write_text("cp /opt/mlecore/sample.csv /home/submission/submission.csv; sleep 0.2\n")
            arguments = ["run", "--agent", "command", "-A", f"argv=sh {script.name}", "--competition", "coins"]
            arguments += ["--seeds", str(options.runs), "--group", "g", "--time-limit", "60"]
        began, kills = time.monotonic(), 0
        while kills < options.kills:
            # from before it has loaded its plugins to well within its work
            if not shell.kill_after(rng.uniform(0.2, 1.8), *arguments):
                print(f"it came to its end after {kills} kills; give it more --runs")
                break
            kills += 1
            if kills % 20 == 0:
                print(f"{kills} kills, {time.monotonic() - began:.0f} s", flush=True)
        code, output = shell.call(*arguments, timeout=3600)
        assert code == 0, output
        check_runs(shell, options.runs, options.backend)
        print(f"{kills} kills, {options.runs} runs: all graded once, none lost; {time.monotonic() - began:.0f} s")


def check_runs(shell, runs: int, backend: str) -> None:
    """Every run has one attempt and one grade, the right one, and each of its events was delivered."""
    from mlecore.runs.store import grade_of, load_group

    problems: list[str] = []
    records = load_group(shell.runs / "g", problems)
    assert not problems, problems
    assert len(records) == runs and Counter(record.state for record in records) == {"graded": runs}
    for record in records:
        assert record.gradings == 1 and record.ended == "finished", record
        assert len(record.attempts) == 1, record.attempts
        grade = grade_of(record.folder)
        score = 0.6 if backend == "vm" else 0.7 if record.seed % 2 else 0.3
        assert grade["run"] == record.uid and abs(grade["score"] - score) < 1e-9, grade
    jobs = shell.root / "vm" / "jobs" if backend == "vm" else shell.backend_root / "jobs"
    assert not list(jobs.glob("[!.]*")), f"jobs are left: {list(jobs.iterdir())}"
    if backend == "folders":
        starts = set((shell.backend_root / "starts.log").read_text().split())
        assert starts == {record.attempts[0].job for record in records}
    events_of = defaultdict(list)
    for line in shell.notes.read_text().splitlines():
        event = json.loads(line)
        if event["event"] not in events_of[event["run"]]:
            events_of[event["run"]].append(event["event"])
    assert len(events_of) == runs and all(events == ["started", "finished", "graded"] for events in events_of.values())


if __name__ == "__main__":
    main()
