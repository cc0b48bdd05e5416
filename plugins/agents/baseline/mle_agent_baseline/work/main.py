"""Hands in the sample submission at once, then what a worker process makes of the data, if it is well-formed.

The worker may fail, run out of memory or take too long: then the sample stays. The last line of logs/baseline.log
says which it is: ``result: model (...)`` or ``result: sample (why)``. An error that nobody foresaw ends the agent with
exit code 1, after the sample is handed in: it is a bug to fix, not a task without a model.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST = 1800.0  # seconds, however long the run may take
SHARE = 0.6  # of the run's time: the rest is for slow disks and for what follows
SHOWN = 4000  # characters of the log that tell of an error


class Crash(Exception):
    """The worker ended with an error."""


def main() -> int:
    home = Path(os.environ.get("MLECORE_HOME") or HERE.parent)
    opt = Path(os.environ.get("MLECORE_OPT") or "/opt/mlecore")
    task = json.loads(os.environ["BASELINE_TASK"])
    (home / "logs").mkdir(exist_ok=True)
    log = home / "logs" / "baseline.log"
    log.write_text(f"{task['title']}: {task['metric']} ({task['direction']}), seed {task['seed']}\n", encoding="utf-8")

    submission = home / "submission" / "submission.csv"
    submission.parent.mkdir(exist_ok=True)
    sample = find_sample(home, opt)
    if sample is None:
        end(log, "nothing (there is no sample submission to go by)")
        return 0
    shutil.copyfile(sample, submission.with_name("sample.part"))
    submission.with_name("sample.part").replace(submission)

    made = submission.with_name("model.part")
    budget = min(SHARE * task["time_limit"], LONGEST)
    try:
        failed = work(home, sample, made, log, budget) or refused(opt, made)
    except Crash as error:
        print(log.read_text(encoding="utf-8", errors="replace")[-SHOWN:], file=sys.stderr)
        end(log, f"sample ({error})")
        return 1
    if failed:
        made.unlink(missing_ok=True)
        end(log, f"sample ({failed})")
    else:
        made.replace(submission)
        end(log, f"model ({last(log, 'model: ')})")
    return 0


def find_sample(home: Path, opt: Path) -> Path | None:
    """The sample submission: where it is laid ready, else by its name among the data."""
    ready = opt / "sample.csv"
    if ready.is_file():
        return ready
    found = sorted(path for path in (home / "data").glob("*.csv") if "sample" in path.name.lower())
    return found[0] if found else None


def work(home: Path, sample: Path, made: Path, log: Path, budget: float) -> str:
    """Let the worker write ``made``. Why it could not; empty when it did. Raises Crash."""
    argv = [sys.executable, str(HERE / "work.py"), str(home), str(sample), str(made), f"{budget:.0f}"]
    with log.open("ab") as out:
        worker = subprocess.Popen(argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment())
        try:
            code = worker.wait(timeout=budget)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
            return f"not done after {budget:.0f} s"
    if code == 0 and made.is_file():
        return ""
    if code == -signal.SIGKILL:
        return "killed, perhaps for its memory"
    if reason := last(log, "no model: "):
        return reason
    raise Crash(f"an error, exit code {code}; see above")


def environment() -> dict[str, str]:
    """As many threads as there are CPUs for this run, not as the machine has."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = str(max(1, int(float(os.environ.get("MLECORE_CPUS") or here))))
    return {
        **os.environ,
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "OMP_WAIT_POLICY": "PASSIVE",  # on a busy machine, threads that wait by spinning hold up those that work
        "PYTHONHASHSEED": "0",
    }


def refused(opt: Path, made: Path) -> str:
    """Why the sandbox's own check calls the file ill-formed; empty when it does not."""
    check = opt / "validate"
    if not check.is_file():
        return ""
    argv = [sys.executable, str(check), str(made)]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 1:  # 3: undecided
        return ""
    reason = (done.stdout + done.stderr).strip().splitlines() or ["no reason given"]
    return f"the model's file was refused: {reason[-1]}"


def last(log: Path, start: str) -> str:
    """The rest of the last line in the worker's log that begins with ``start``; empty if there is none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line[len(start) :] for line in reversed(lines) if line.startswith(start)), "")


def end(log: Path, result: str) -> None:
    with log.open("a", encoding="utf-8") as out:
        out.write(f"result: {result}\n")
    print(f"result: {result}")


if __name__ == "__main__":
    sys.exit(main())
