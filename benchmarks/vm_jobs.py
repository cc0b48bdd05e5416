"""Jobs on the backend vm: how long one takes to start, what it costs the controller, what many at once cost.

    python benchmarks/vm_jobs.py [JOBS]

Prints the median seconds from ``start()`` to its return and to the job's first instruction, the controller's CPU
seconds for a job from start to removal, and, with JOBS (60) at once: the milliseconds that a look at all of them takes,
and for each supervisor its own memory (proportional set size) and CPU seconds an hour.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mle_backend_vm.machine import Vm
from mle_backend_vm.supervise.files import read_json

import mlecore.sandbox
from mlecore.agents import Recipe
from mlecore.backends import Dataset, Handle, Job


def make_job(vm: Vm, folder: Path, name: str, *argv: str, memory: int | None = None) -> Job:
    dataset = Dataset(competition="c", edition="v1", public=folder, digest="d")
    return Job(
        name=name, group="bench", image=vm.build(Recipe(), folder / "log"), dataset=dataset, data=str(folder),
        argv=argv, memory=memory, tools={"init": Path(str(mlecore.sandbox.__file__)).parent / "init"},
    )  # fmt: skip


def cpu() -> float:
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(one)[:2]) for one in who)


def one_by_one(vm: Vm, folder: Path, count: int = 20) -> None:
    starts, firsts = [], []
    before = cpu()
    for number in range(count):
        job = make_job(vm, folder, f"mle-bench-{number}", "/bin/date", "+%s.%N")
        began = time.time()
        handle = vm.start(job)
        starts.append(time.time() - began)
        while vm.status([handle])[handle].phase != "exited":
            time.sleep(0.01)
        firsts.append(float(b"".join(vm.logs(handle))) - began)
        vm.fetch(handle, ["submission", ".mlecore"], folder / f"got-{number}", 10**6)
        vm.remove(handle)
    print(f"start() returns after      {statistics.median(starts):8.3f} s")
    print(f"first instruction after    {statistics.median(firsts):8.3f} s")
    print(f"controller's CPU per job   {(cpu() - before) / count:8.3f} s (what it starts and waits for included)")


def pid_of(vm: Vm, handle: Handle) -> int:
    state = read_json(handle.id.partition(":")[2] + "/state.json") or {}
    return int(state["pid"])


def ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def many(vm: Vm, folder: Path, count: int) -> None:
    handles = [vm.start(make_job(vm, folder, f"mle-many-{n}", "/bin/sleep", "600", memory=10**9)) for n in range(count)]
    try:
        time.sleep(1)
        began = time.perf_counter()
        phases = {status.phase for status in vm.status(handles).values()}
        print(f"status() of {count:4} {phases} {1000 * (time.perf_counter() - began):8.1f} ms")
        pids = [pid_of(vm, handle) for handle in handles]
        rows = [line for pid in pids for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
        memory = sum(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
        print(f"a supervisor's memory      {memory / count / 1024:8.1f} MiB")
        before = sum(map(ticks, pids))
        time.sleep(10)
        seconds = (sum(map(ticks, pids)) - before) / os.sysconf("SC_CLK_TCK")
        print(f"a supervisor's CPU         {seconds / count / 10 * 3600:8.1f} s an hour, looking at memory")
    finally:
        for handle in handles:
            vm.remove(handle)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        os.environ["MLECORE_VM_STATE"] = f"{name}/state"
        folder = Path(name, "public")
        folder.mkdir()
        Path(name).chmod(0o755)
        vm = Vm({})
        if problems := vm.preflight():
            sys.exit("\n".join(problem.what for problem in problems))
        one_by_one(vm, folder)
        many(vm, folder, int(sys.argv[1]) if len(sys.argv) > 1 else 60)


if __name__ == "__main__":
    main()
