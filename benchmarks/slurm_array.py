"""Short jobs on a Slurm cluster, started together: controller CPU per job, and calls of Slurm's commands.

python benchmarks/slurm_array.py --jobs 200 -B partition=main -B state=/shared/folder
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
import uuid
from pathlib import Path

from mle_backend_slurm.settings import read_settings
from mle_backend_slurm.slurm_backend import SlurmBackend
from mlecore_testing.backends.harness import shell_job

from mlecore.agents import Recipe
from mlecore.backends import Dataset, Handle


def cpu() -> float:
    """Seconds of this process and of the commands that it ran."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("-B", dest="options", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    options = dict(option.partition("=")[::2] for option in given.options)
    with tempfile.TemporaryDirectory(dir=Path(options["state"]).parent if "state" in options else None) as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "public").mkdir()
        (folder / "public" / "train.csv").write_text("id,y\n1,2\n")
        measure(SlurmBackend(read_settings({"state": str(folder / "state"), **options})), folder, given.jobs)


def measure(backend: SlurmBackend, folder: Path, jobs: int) -> None:
    dataset = Dataset(competition="toy", edition="v1", public=folder / "public", digest="d")
    image = backend.build(Recipe(), folder / "build.log")
    data = backend.stage_data(dataset, lambda done, total, what: None)
    group = uuid.uuid4().hex[:12]
    script = "echo done >submission/submission.csv"
    words = {"group": group, "image": image, "dataset": dataset, "data": data, "cpus": 1, "memory": 1 << 27}
    before, began = cpu(), time.monotonic()
    left: dict[Handle, str] = {
        handle: handle.name
        for handle in (backend.start(shell_job(script, time_limit=120.0, **words)) for _ in range(jobs))
    }
    ended, failed = 0, []
    while left:
        time.sleep(5.0)
        for handle, status in backend.status(list(left)).items():
            if status.phase in ("exited", "gone"):
                name = left.pop(handle)
                ended += status.exit_code == 0
                failed += [] if status.exit_code == 0 else [f"{name}: {status.phase} {status.reason}"]
                fetched = backend.fetch(handle, ["submission"], folder / name, 1 << 20, 10)
                failed += [] if fetched.files == 1 else [f"{name}: {fetched.files} files"]
                backend.remove(handle)
    used, seconds = cpu() - before, time.monotonic() - began
    calls = ", ".join(f"{count} {name}" for name, count in sorted(backend.slurm.calls.items()))
    print(f"{jobs} jobs, {ended} ended well, in {seconds:.0f} s; {1000 * used / jobs:.0f} ms of controller CPU per job")
    print(f"calls: {calls}")
    for words_of in failed[:10]:
        print(words_of)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
