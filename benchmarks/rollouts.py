"""How many rollouts of verifiers an hour, with a scripted model that copies the sample submission.

    python benchmarks/rollouts.py TASKS [--rollouts 100] [--at-once 8] [--harness bash]

In an environment with mle-ext-verifiers. TASKS: a folder that `mlecore export harbor --delivery image` wrote; its first
task is used. Docker's containers are started and removed by verifiers; nothing else is left.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean

from _measure import scratch

MODEL = Path(__file__).parent.parent / "plugins" / "extensions" / "verifiers" / "tests" / "scripted_model.py"
COMMAND = "cp /opt/mlecore/sample.csv /home/submission/submission.csv"
PHASES = {"boot": "box", "setup": "set-up", "agent": "agent", "scoring": "grading"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--rollouts", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--harness", default="mle-ext-verifiers")
    options = parser.parse_args()
    with scratch() as folder:
        (folder / "commands.json").write_text(json.dumps([COMMAND]))
        model = subprocess.Popen([sys.executable, MODEL, folder / "commands.json"], stdout=subprocess.PIPE, text=True)
        try:
            assert model.stdout
            traces = evaluate(options, model.stdout.readline().strip(), folder / "out")
        finally:
            model.kill()
            model.wait()
    show(traces)


def evaluate(options: argparse.Namespace, url: str, folder: Path) -> list[dict]:
    command = [Path(sys.executable).with_name("vf-eval"), "mle-ext-verifiers", "--no-push", "--no-rich", "-n", "1"]
    command += ["--env.taskset.path", options.tasks, "--env.agent.runtime.type", "docker", "-o", folder]
    command += ["--env.agent.harness.id", options.harness, "--model", "scripted", "--client.base-url", url]
    command += ["--client.api-key-var", "NONE", "-r", str(options.rollouts), "-c", str(options.at_once)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    (file,) = folder.glob("*/traces.jsonl")
    return [trace for line in file.read_text().splitlines() for trace in json.loads(line)["traces"]]


def show(traces: list[dict]) -> None:
    assert all(trace["ok"] and trace["metrics"]["valid"] == 1 for trace in traces)
    times = [trace["timing"] for trace in traces]
    wall = max(time["scoring"]["end"] for time in times) - min(time["start"] for time in times)
    each = wall / len(traces)
    print(f"{len(traces)} rollouts in {wall:.0f} s: {each:.2f} s each, {3600 / each:.0f} an hour")
    for name, label in PHASES.items():
        spans = [time[name]["end"] - time[name]["start"] for time in times]
        print(f"  {label:8} {fmean(spans):6.2f} s on average, {max(spans):6.2f} s at most")


if __name__ == "__main__":
    main()
