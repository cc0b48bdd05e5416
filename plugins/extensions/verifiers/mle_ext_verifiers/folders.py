"""The task folders that `mlecore export harbor` writes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from mle_ext_harbor.reward import KINDS, RewardKind

from mlecore.errors import DataError, UsageError

_EXPORT = "mlecore export harbor ID --delivery image --no-verifier --reward position --out DIR"


@frozen(kw_only=True)
class TaskFolder:
    """What verifiers needs of one folder."""

    name: str
    prompt: str
    image: str  # with the public data, without answers
    competition: str
    edition: str
    synthetic: bool
    digest: str  # of the public data, see Prepared.digest
    seconds: float  # time limit per run
    cpus: float | None
    memory_gb: float | None
    gpus: int
    allow: tuple[str, ...]  # hosts that the agent may reach; "*": all
    reward: RewardKind


def read_folders(path: Path) -> list[TaskFolder]:
    """The tasks in a folder, by name; or the one task that it is. Raises UsageError, DataError."""
    found = sorted(path.glob("*/task.toml")) or [*path.glob("task.toml")]
    if not found:
        raise UsageError(f"there are no tasks in {path}", fix=f"Write some: {_EXPORT}")
    return [_read(file.parent) for file in found]


def _read(folder: Path) -> TaskFolder:
    again = f"Export it again: {_EXPORT}"
    try:
        config = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
        prompt = (folder / "instruction.md").read_text(encoding="utf-8")
        facts, environment = config["metadata"], config["environment"]
        if not environment.get("docker_image"):
            raise DataError(f"the task in {folder} names no image: its data are mounted", fix=again)
        memory = environment.get("memory_mb")
        return TaskFolder(
            name=folder.name,
            prompt=prompt,
            image=environment["docker_image"],
            competition=facts["competition"],
            edition=facts["edition"],
            synthetic=facts["synthetic"],
            digest=facts["data_digest"],
            seconds=config["agent"]["timeout_sec"],
            cpus=environment.get("cpus"),
            memory_gb=memory / 1024 if memory else None,
            gpus=environment.get("gpus", 0),
            allow=_allowed(environment),
            reward=KINDS[KINDS.index(facts["reward"])],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder} is not a task of mlecore: {type(error).__name__}: {error}", fix=again) from None


def _allowed(environment: Mapping[str, Any]) -> tuple[str, ...]:
    modes = {"public": ("*",), "no-network": (), "allowlist": tuple(environment.get("allowed_hosts", ()))}
    return modes[environment["network_mode"]]
