"""Say what this node has, for `mlecore doctor`."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

from mle_backend_slurm.node.run import node_name
from mlecore_jobs.supervise import slirp
from mlecore_jobs.supervise.files import write_json
from mlecore_sandboxes import apptainer, bubblewrap, gpus
from mlecore_sandboxes.preflight import held_by_cgroup


def probe(root: Path, folder: Path) -> None:
    problem, other = bubblewrap.problem(), apptainer.problem()
    result = {
        "node": node_name(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "sandbox": "" if problem is None else problem.description,
        "fix": "" if problem is None else problem.fix,
        "bubblewrap": bubblewrap.version() if shutil.which("bwrap") else "",
        "apptainer": apptainer.version() if shutil.which("apptainer") else "",
        "apptainer_problem": "" if other is None else other.description,
        "no_network": ": ".join(filter(None, slirp.problem())),
        "cgroup": ", ".join(held_by_cgroup()),
        "cpus": len(os.sched_getaffinity(0)),
        "gpus": [gpu.model for gpu in gpus.found().values()],
        "scratch": os.environ.get("TMPDIR", ""),
        "free": shutil.disk_usage(root).free,
    }
    write_json(str(folder / "result.json"), result)
