"""12 runs on three hosts over SSH, one link fast, one slow, one cut twice, and the same runs on this machine.

    python benchmarks/ssh_hosts.py [--runs 12] [--seconds 20]

The hosts are sshds in network namespaces of this machine (root, iproute2, sshd): 1 Gbit/s, 1 Mbit/s, and 1 Gbit/s with
a link that is cut while jobs run behind it: for a minute, which breaks its connections, and for ten seconds, which does
not. The agent learns from the public data and a sample that its seed draws, so that each run has a score of its own.
Prints each run's host, score and number of attempts, and ends with an error if a score differs from that of the same
run on this machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plugins/backends/ssh/tests"))

AGENT = """
import csv, os, random, time
train = list(csv.DictReader(open("data/train.csv")))
pixels = [name for name in train[0] if name.startswith("pixel")]
sample = random.Random(int(os.environ["MLECORE_SEED"])).sample(train, 60)
known = [([int(row[name]) for name in pixels], row["digit"]) for row in sample]
with open("submission/submission.csv", "w") as out:
    print("id,digit", file=out)
    for row in csv.DictReader(open("data/test.csv")):
        seen = [int(row[name]) for name in pixels]
        near = min(known, key=lambda one: sum((a - b) ** 2 for a, b in zip(one[0], seen)))
        print(row["id"], near[1], sep=",", file=out)
print("done", flush=True)
time.sleep(SECONDS)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=20, help="that each agent goes on after its submission")
    options = parser.parse_args()
    from ssh_hosts import Hosts

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "agent.py").write_text(AGENT.replace("SECONDS", str(options.seconds)))
        os.chdir(folder)
        os.environ["MLECORE_VM_STATE"] = f"{name}/vm"
        subprocess.run([sys.executable, "-m", "mlecore", "prepare", "optical-digits", "--data", "data"], check=True)
        here = run("here", options.runs, {})
        hosts = Hosts(folder / "hosts", 3)
        try:
            os.environ |= {"HOME": str(hosts.home), "MLECORE_VM_STATE": f"{name}/controller"}
            fast, slow, cut = hosts.hosts
            for host, rate in ((fast, "1gbit"), (slow, "1mbit"), (cut, "1gbit")):
                host.slow(rate)
            threading.Thread(target=cut_twice, args=(cut,), daemon=True).start()
            addresses = ",".join(host.address for host in hosts.hosts)
            there = run("there", options.runs, {"host": addresses})
        finally:
            hosts.close()
    assert here.keys() == there.keys()
    different = [seed for seed in here if here[seed] != there[seed]]
    print(f"{len(here) - len(different)} of {len(here)} runs have the same score on hosts as on this machine")
    if different:
        sys.exit(f"different: seeds {different}")


def cut_twice(host: object) -> None:
    jobs = host.home / ".local/state/mlecore/vm/jobs"
    for seconds in (60, 10):
        while not list(jobs.glob("*/home/submission/submission.csv")):
            time.sleep(0.2)
        print(f"cut, with {len(list(jobs.iterdir()))} jobs behind it", flush=True)
        host.cut()
        time.sleep(seconds)
        host.restore()
        print(f"restored after {seconds} s", flush=True)
        time.sleep(5)


def run(group: str, count: int, options: Mapping[str, str]) -> dict[int, float]:
    """Seed -> score."""
    import mlecore
    from mlecore.runs.store import grade_of

    began = time.monotonic()
    records = mlecore.run(
        agent="command", options={"argv": "python3 agent.py"}, competition="optical-digits", seeds=count,
        backend="ssh" if options else "vm", backend_options=options, time_limit=600, memory="256MB", group=group,
        max_parallel=6, data=["data"], detect=False,
    )  # fmt: skip
    print(f"{group}: {time.monotonic() - began:.0f} s")
    scores = {}
    for record in records:
        assert record.state == "graded", (record.name, record.state, record.reason)
        scores[record.seed] = grade_of(record.folder)["score"]
        handle = record.attempts[-1].handle
        place = handle.id.partition(" ")[0] if handle else ""
        print(f"  seed {record.seed:2}  {scores[record.seed]:.4f}  attempts {len(record.attempts)}  {place}")
    return scores


if __name__ == "__main__":
    main()
