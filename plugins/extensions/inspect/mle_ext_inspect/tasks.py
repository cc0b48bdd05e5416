"""The tasks that inspect finds by its entry point: one for each installed competition, and one for each split.

``inspect eval mlecore/spaceship-titanic``, ``inspect eval mlecore/lite -T edition=v2 -T seed=3``
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.util import SandboxEnvironmentSpec

from mle_ext_inspect.agent import competitor
from mle_ext_inspect.container import IMAGE, container
from mle_ext_inspect.scoring import BENCHMARK, SCORE, grade
from mle_ext_inspect.setting import Delivery, Setting
from mle_ext_inspect.staging import TIME_LIMIT, instructions_for, stage
from mlecore.errors import UsageError
from mlecore.model.agents import Network
from mlecore.plugins.competitions import EXTRAS, of_split, split_names
from mlecore.plugins.discovery import installed
from mlecore.util.units import size


def _register(name: str, competitions: Callable[[], Sequence[str]]) -> None:
    def competition_task(
        edition: str = "v1",
        seed: int | list[int] = 0,
        synthetic: bool = False,
        data: str | None = None,
        delivery: Delivery = "mount",
        image: str = IMAGE,
        cpus: float | None = None,
        memory: str | None = None,
        gpus: int = 0,
        network: Network = "none",
        outputs: str | None = None,
    ) -> Task:
        """Kaggle competitions, graded by mlecore.

        Args:
            edition: v1, as published, or v2, with known flaws repaired.
            seed: Number of the repetition, or several: each is a sample.
            synthetic: Use synthetic data: no Kaggle account, no medals.
            data: Data directory. Default: that of `mlecore prepare`.
            delivery: How the data come into the sandbox: "mount" (Docker on this machine) or "copy" (any sandbox).
            image: Image of the container; it needs python3 and what the agent's code imports.
            cpus: CPUs of each sandbox.
            memory: Memory of each sandbox, such as 16GB.
            gpus: GPUs of each sandbox.
            network: "none" or "open".
            outputs: Folder for submissions, code and logs. Default: mlecore/ in inspect's folder of logs.
        """
        if network not in ("none", "open"):
            raise UsageError(f"network={network!r} is neither none nor open")
        if delivery not in ("mount", "copy"):
            raise UsageError(f"delivery={delivery!r} is neither mount nor copy")
        setting = Setting(
            edition=edition,
            synthetic=synthetic,
            data=(str(Path(data).resolve()),) if data else (),
            delivery=delivery,
            image=image,
            cpus=cpus,
            memory=size(memory) if memory else None,
            gpus=gpus,
            network=network,
            outputs=str(Path(outputs or Path(os.environ.get("INSPECT_LOG_DIR", "logs")) / "mlecore").absolute()),
        )
        ids = competitions()
        if not ids:
            extra = EXTRAS.get(name, "all")
            raise UsageError(f"no competition of {name} is installed", fix=f"pip install 'mlecore[{extra}]'")
        seeds = [seed] if isinstance(seed, int) else seed
        return Task(
            dataset=MemoryDataset([_sample(id, number, setting) for id in ids for number in seeds], name=name),
            setup=stage(),
            solver=competitor(),
            scorer=grade(),
            metrics=SCORE if len(ids) == 1 else BENCHMARK,
            time_limit=TIME_LIMIT,
        )

    # inspect names a task after the package of its function; users look for this benchmark under "mlecore"
    competition_task.__module__ = "mlecore"
    task(name=name)(competition_task)


def _sample(id: str, seed: int, setting: Setting) -> Sample:
    inputs = setting.inputs(id)
    return Sample(
        id=f"{id}--{seed}",
        input=instructions_for(setting, TIME_LIMIT),
        metadata={
            "competition": id,
            "seed": seed,
            "title": inputs.facts.title,
            "data_kind": inputs.data.kind(inputs.facts),
            "data_digest": inputs.data.digest,
            "setting": setting.to_json(),
        },
        sandbox=SandboxEnvironmentSpec("docker", container(inputs.data.public, setting)),
    )


def _one(id: str) -> Callable[[], Sequence[str]]:
    return lambda: [id]


def _all_of(split: str) -> Callable[[], Sequence[str]]:
    return lambda: [competition.id for competition in of_split(split)]


for _plugin in installed("competition"):
    if _plugin.state == "ok":
        _register(_plugin.name, _one(_plugin.name))
for _split in split_names():
    _register(_split, _all_of(_split))
