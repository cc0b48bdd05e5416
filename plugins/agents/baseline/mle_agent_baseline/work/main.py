"""Submits the sample submission at once, then what a worker process makes of the data, if it is well-formed.

The worker may fail, run out of memory or take too long: then the sample stays. The last line of logs/baseline.log
says which it is: ``result: model (...)`` or ``result: sample (why)``. An error in the worker ends the agent with exit
code 1: it is a bug to fix, not a task without a model.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST = 1800.0  # seconds, however long the run may take
SHARE = 0.6  # of the run's time: the rest is for slow disks and for what follows


def main() -> int:
    home = Path(os.environ.get("MLECORE_HOME") or HERE.parent)
    opt = Path(os.environ.get("MLECORE_OPT") or "/opt/mlecore")
    task = json.loads(os.environ["BASELINE_TASK"])
    (home / "logs").mkdir(exist_ok=True)
    log = home / "logs" / "baseline.log"
    log.write_text(f"{task['title']}: {task['metric']} ({task['direction']}), seed {task['seed']}\n", encoding="utf-8")

    submission = home / "submission" / "submission.csv"
    submission.parent.mkdir(exist_ok=True)
    sample = next(
        (path for path in (opt / "sample.csv", *(home / "data").glob("*sample*.csv")) if path.is_file()), None
    )
    if sample is None:
        return end(log, "nothing (there is no sample submission to go by)", "gave_up: there is no sample submission")
    part = submission.with_name("submission.part")
    shutil.copyfile(sample, part)
    part.replace(submission)

    code, failed = work(home, sample, part, log, min(SHARE * task["time_limit"], LONGEST))
    failed = failed or rejected(opt, part)
    if failed:
        part.unlink(missing_ok=True)
        return end(log, f"sample ({failed})", f"fallback: the sample submission, because: {failed}", code)
    part.replace(submission)
    return end(log, f"model ({last(log, 'model: ')})", "submitted")


def work(home: Path, sample: Path, part: Path, log: Path, budget: float) -> tuple[int, str]:
    """Let the worker write ``part``: the agent's exit code, and why the worker could not; empty if it could."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = str(max(1, int(float(os.environ.get("MLECORE_CPUS") or cpus))))
    env = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "OMP_WAIT_POLICY": "PASSIVE"}
    argv = [sys.executable, str(HERE / "work.py"), str(home), str(sample), str(part)]
    with log.open("ab") as out:
        try:
            done = subprocess.run(argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=env, timeout=budget)
        except subprocess.TimeoutExpired:
            return 0, f"not done after {budget:.0f} s"
    if done.returncode == 0:
        return 0, ""
    if done.returncode < 0:
        return 0, "killed, perhaps for its memory"
    if reason := last(log, "no model: "):
        return 0, reason
    print(log.read_text(encoding="utf-8", errors="replace")[-4000:], file=sys.stderr)
    return 1, f"an error, exit code {done.returncode}; see above"


def rejected(opt: Path, part: Path) -> str:
    """Why the sandbox's own check calls the file ill-formed; empty if it does not, or cannot decide."""
    if not (opt / "validate").is_file():
        return ""
    argv = [sys.executable, str(opt / "validate"), str(part)]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    reason = (done.stdout + done.stderr).strip().splitlines() or ["no reason given"]
    return f"validate rejected the model's file: {reason[-1]}" if done.returncode == 1 else ""


def last(log: Path, start: str) -> str:
    """The rest of the last line in the worker's log that begins with ``start``; empty if there is none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line[len(start) :] for line in reversed(lines) if line.startswith(start)), "")


def end(log: Path, result: str, outcome: str, code: int = 0) -> int:
    with log.open("a", encoding="utf-8") as out:
        out.write(f"result: {result}\n")
    log.with_name("outcome").write_text(f"{outcome}\n", encoding="utf-8")
    print(f"result: {result}")
    return code


if __name__ == "__main__":
    sys.exit(main())
