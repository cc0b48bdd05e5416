"""The options of this backend, and those of sbatch that they and a run's resources become."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import Literal

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.model.backends import Resources
from mlecore.model.options import setting

_PASSED_ON = ("partition", "account", "qos", "constraint", "reservation", "nodelist", "exclude", "licenses")
OVERHEAD = 256 << 20  # bytes of memory that a job gets for its supervisor, relay and gateway
_START_AND_END = 600.0  # seconds that a job gets for what comes before and after its run
_STAGING = 3600.0  # the same, if it copies data to the node's disk
_RESERVED = ("--array", "--output", "--error", "--job-name", "--parsable", "--test-only", "--wait", "--wrap")


def read_sbatch(text: str) -> tuple[str, ...]:
    """Options of sbatch, apart. Raises UsageError, and ValueError for a quote that does not end."""
    words = tuple(shlex.split(text))
    for word in words:
        if word.partition("=")[0] in _RESERVED or not word.startswith("-"):
            raise UsageError(f"{word} cannot be given", fix="Write options as --NAME=VALUE.")
    return words


def read_poll(text: str) -> float:
    """Raises UsageError."""
    if not float(text) > 0:
        raise UsageError("must be above 0")
    return float(text)


@frozen(kw_only=True)
class Settings:
    """Each field is an option."""

    partition: str | None = setting("partition, or several to choose from: gpu,long")
    account: str | None = setting("account that is charged")
    qos: str | None = setting("quality of service")
    constraint: str | None = setting("features that a node must have, e.g. a100|h100")
    reservation: str | None = setting("reservation")
    nodelist: str | None = setting("nodes that must be used")
    exclude: str | None = setting("nodes that must not be used")
    licenses: str | None = setting("licenses that each run takes")
    gpu_type: str | None = setting("type of GPU, as in --gres=gpu:TYPE:N; default: any")
    sbatch: tuple[str, ...] = setting("additional sbatch options, e.g. '--nice=100 --exclusive'", read_sbatch, "")
    state: Path = setting(
        "folder for queue and output of runs, on a file system that all nodes share",
        lambda text: Path(text).expanduser().absolute(),
        default="~/.local/state/mlecore/slurm",
    )
    scratch: str = setting(
        "folder on a node's own disk to copy data to, e.g. '$TMPDIR'; default: read in place", default=""
    )
    poll: float = setting(
        "seconds between squeue calls while something changes; otherwise up to four times as long",
        read_poll,
        type="number",
        default="30",
    )
    isolation: Literal["sandbox", "apptainer", "none"] = setting(
        "sandbox: by bubblewrap, or by Apptainer where bubblewrap does not work; apptainer: always by Apptainer; "
        "none: plain processes that can read and change whatever you can",
        default="sandbox",
        choices=("sandbox", "apptainer", "none"),
    )

    @property
    def isolated(self) -> bool:
        return self.isolation != "none"

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags of sbatch, the same for every run."""
        named = {name: getattr(self, name) for name in _PASSED_ON}
        return (*(f"--{name}={value}" for name, value in named.items() if value), *self.sbatch)


def sbatch_options(settings: Settings, resources: Resources) -> tuple[str, ...]:
    """The options for one run. Runs with the same ones can be tasks of one array."""
    seconds = resources.time_limit + resources.grace + _START_AND_END + (_STAGING if settings.scratch else 0)
    out = ["--ntasks=1", "--no-requeue", "--export=ALL", "--chdir=/", f"--time={math.ceil(seconds / 60)}"]
    if resources.cpus is not None:
        out.append(f"--cpus-per-task={max(1, math.ceil(resources.cpus))}")
    if resources.memory is not None:
        out.append(f"--mem={math.ceil((resources.memory + OVERHEAD) / 2**20)}M")
    if resources.gpus:
        out.append(f"--gres=gpu:{settings.gpu_type + ':' if settings.gpu_type else ''}{resources.gpus}")
    return (*out, *settings.flags)
