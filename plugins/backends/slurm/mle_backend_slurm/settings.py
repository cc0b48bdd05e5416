"""The options of this backend, and the options of sbatch that they and a run's resources become."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from mlecore.backends import Resources
from mlecore.errors import UsageError
from mlecore.options import Option

_PASSED_ON = {
    "partition": "partition, or several to choose from: gpu,long",
    "account": "account that is charged",
    "qos": "quality of service",
    "constraint": "features that a node must have, e.g. a100|h100",
    "reservation": "reservation",
    "nodelist": "nodes that must be used",
    "exclude": "nodes that must not be used",
    "licenses": "licenses that each run takes",
}

OPTIONS = (
    *(Option(name=name, help=text) for name, text in _PASSED_ON.items()),
    Option(name="gpu-type", help="type of GPU, as in --gres=gpu:TYPE:N; default: any"),
    Option(name="sbatch", help="additional sbatch options, e.g. '--nice=100 --exclusive'"),
    Option(
        name="state",
        help="folder for queue and output of runs, on a file system that all nodes share",
        default="~/.local/state/mlecore/slurm",
    ),
    Option(name="scratch", help="folder on a node's own disk to copy data to, e.g. '$TMPDIR'; default: read in place"),
    Option(
        name="poll",
        help="seconds between squeue calls while something changes; otherwise up to four times as long",
        type="number",
        default="30",
    ),
    Option(
        name="isolation",
        help="sandbox: by bubblewrap, or by Apptainer where bubblewrap does not work; apptainer: always by Apptainer; "
        "none: plain processes that can read and change whatever you can",
        default="sandbox",
        choices=("sandbox", "apptainer", "none"),
    ),
)

OVERHEAD = 256 << 20  # bytes of memory that a job gets for its supervisor, relay and gateway
_START_AND_END = 600.0  # seconds that a job gets for what comes before and after its run
_STAGING = 3600.0  # the same, if it copies data to the node's disk
_RESERVED = ("--array", "--output", "--error", "--job-name", "--parsable", "--test-only", "--wait", "--wrap")


@frozen(kw_only=True)
class Settings:
    """What the user chose."""

    state: Path
    poll: float  # seconds
    scratch: str  # before variables in it are replaced, on the node; "": none
    isolation: str  # sandbox, apptainer or none
    gpu_type: str
    flags: tuple[str, ...]  # of sbatch, the same for every run

    @property
    def isolated(self) -> bool:
        return self.isolation != "none"


def read_settings(options: Mapping[str, str]) -> Settings:
    """Raises UsageError."""
    flags = [f"--{name}={options[name]}" for name in _PASSED_ON if options.get(name)]
    try:
        extra = shlex.split(options.get("sbatch", ""))
    except ValueError as error:
        raise UsageError(f"-B sbatch={options['sbatch']!r}: {error}") from None
    for word in extra:
        if word.partition("=")[0] in _RESERVED or not word.startswith("-"):
            raise UsageError(
                f"-B sbatch={options['sbatch']!r}: {word} cannot be given", fix="Write options as --NAME=VALUE."
            )
    poll = float(options.get("poll", "30"))
    if not poll > 0:
        raise UsageError(f"-B poll={poll:g} must be above 0")
    return Settings(
        state=Path(options.get("state", "~/.local/state/mlecore/slurm")).expanduser().absolute(),
        poll=poll,
        scratch=options.get("scratch", ""),
        isolation=options.get("isolation", "sandbox"),
        gpu_type=options.get("gpu-type", ""),
        flags=(*flags, *extra),
    )


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
