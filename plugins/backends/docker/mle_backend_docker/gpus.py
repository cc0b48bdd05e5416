"""Which GPUs this machine has, and which of them a run gets."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property

from mlecore.errors import BackendError, BackendUnreachable
from mlecore.model.backends import Job, Problem, Resources
from mlecore.util.child_environment import child_environment
from mlecore_sandboxes.containers import names
from mlecore_sandboxes.containers.engine import Engine, locked

TOOLKIT = "Install the NVIDIA Container Toolkit, run `nvidia-ctk runtime configure`, and restart the engine."


def _listed() -> list[list[str]]:
    """Index, UUID and model of each GPU of this machine; none where its driver does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = [program, "--query-gpu=index,uuid,name", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, env=child_environment(), capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [[word.strip() for word in line.split(",", 2)] for line in done.stdout.splitlines() if line.count(",") >= 2]


@cache
def models() -> dict[str, str]:
    """The model of each GPU of this machine, by its index and by its UUID."""
    return {id: model for index, uuid, model in _listed() for id in (index, uuid)}


class Gpus:
    """The GPUs that runs of this backend may have: all of the machine, or those that the option names.

    A run gets as many as its job needs; if that is none, as many as the option gives. Two runs never share one.
    """

    def __init__(self, engine: Engine, option: int | tuple[str, ...] | None) -> None:
        self._engine = engine
        self._option = option

    @cached_property
    def here(self) -> tuple[str, ...]:
        """Ids of all GPUs of this machine, as its driver numbers them."""
        return tuple(row[0] for row in _listed())

    @property
    def pool(self) -> tuple[str, ...]:
        return self._option if isinstance(self._option, tuple) else self.here

    def wanted(self, resources: Resources) -> int:
        """How many a run gets."""
        if resources.gpus:
            return resources.gpus
        return len(self._option) if isinstance(self._option, tuple) else self._option or 0

    def problems(self, requested: Sequence[Resources]) -> list[Problem]:
        """Why runs cannot have the GPUs that they or the option ask for."""
        wanted = max(self.wanted(resources) for resources in (Resources(), *requested))
        if wanted == 0:
            return []
        if not self.here:
            return [
                Problem(
                    description=f"{wanted} GPU(s) requested, but nvidia-smi shows none on this machine",
                    fix="Omit -B gpus and --gpus, or use a machine with GPUs.",
                    usage=True,
                )
            ]
        out = []
        if (each := self.wanted(Resources())) and len({bool(resources.gpus) for resources in requested}) == 2:
            out.append(
                Problem(
                    description=f"-B gpus would give {each} GPU(s) to runs whose plan gives them none",
                    fix="Leave out -B gpus: the limits of each agent say how many it gets.",
                    usage=True,
                )
            )
        unknown = [id for id in self.pool if id.isdigit() and id not in self.here]
        if unknown:
            out.append(
                Problem(
                    description=f"unknown GPU {', '.join(unknown)}; this machine has {', '.join(self.here)}",
                    fix="Name existing GPUs: -B gpus=ID,ID",
                    usage=True,
                )
            )
        elif wanted > len(self.pool):
            out.append(
                Problem(
                    description=f"{wanted} GPUs requested, {len(self.pool)} available",
                    fix="Request fewer, e.g. --gpus 1",
                    usage=True,
                )
            )
        runtimes = self._engine.info.get("Runtimes") or {}
        if "nvidia" not in runtimes and not shutil.which("nvidia-container-runtime-hook"):
            out.append(Problem(description="the engine cannot give GPUs to containers", fix=TOOLKIT))
        return out

    @contextmanager
    def claim(self, job: Job) -> Iterator[tuple[str, ...]]:
        """Ids of free GPUs. They are taken once a container with the label is there; until then others wait."""
        wanted = self.wanted(job.resources)
        if wanted == 0:
            yield ()
            return
        if wanted > len(self.pool):
            raise BackendError(f"{job.name} asks for {wanted} GPUs, and there are {len(self.pool)}")
        with locked("gpus"):
            free = [id for id in self.pool if id not in self.taken()]
            if len(free) < wanted:
                raise BackendUnreachable(
                    f"{job.name} needs {wanted} GPU(s), and only {len(free)} of {', '.join(self.pool)} are free"
                )
            yield tuple(free[:wanted])

    def taken(self) -> set[str]:
        """Those that containers of mlecore hold, of any controller."""
        with self._engine.request("looking for GPUs in use"):
            found = self._engine.api.containers(
                all=True, filters={"label": names.GPUS, "status": ["created", "running", "paused", "restarting"]}
            )
        return {id for each in found for id in (each["Labels"] or {}).get(names.GPUS, "").split(",") if id}
