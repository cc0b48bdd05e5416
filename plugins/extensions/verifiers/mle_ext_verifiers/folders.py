"""The task folders that `mlecore export harbor` writes, as data of tasks."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from mle_ext_harbor.reward import RewardKind

from mlecore.errors import DataError, UsageError
from mlecore.model.agents import HOME

_EXPORT = "mlecore export harbor ID --delivery image --no-verifier --reward position --out DIR"


class CompetitionData(vf.TaskData):
    """A task of verifiers, and what grading needs."""

    competition: str
    edition: str
    synthetic: bool
    data_digest: str  # of the public data, see Prepared.digest
    reward: RewardKind


def read_folders(path: Path) -> list[CompetitionData]:
    """The tasks in a folder, by name; or the one task that it is. Raises UsageError, DataError."""
    found = sorted(path.glob("*/task.toml")) or [*path.glob("task.toml")]
    if not found:
        raise UsageError(f"there are no tasks in {path}", fix=f"Write some: {_EXPORT}")
    return [_read(file.parent) for file in found]


def _read(folder: Path) -> CompetitionData:
    again = f"Export it again: {_EXPORT}"
    try:
        config = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
        facts, environment = config["metadata"], config["environment"]
        if not environment.get("docker_image"):
            raise DataError(f"the task in {folder} names no image: its data are mounted", fix=again)
        return CompetitionData(
            name=folder.name,
            prompt=(folder / "instruction.md").read_text(encoding="utf-8"),
            image=environment["docker_image"],
            workdir=str(HOME),
            network_allow=_allowed(environment),
            timeout=vf.TaskTimeout(agent=config["agent"]["timeout_sec"]),
            resources=_resources(environment),
            competition=facts["competition"],
            edition=facts["edition"],
            synthetic=facts["synthetic"],
            data_digest=facts["data_digest"],
            reward=facts["reward"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder} is not a task of mlecore: {type(error).__name__}: {error}", fix=again) from None


def _allowed(environment: Mapping[str, Any]) -> list[str]:
    """Hosts that the agent may reach; "*": all."""
    modes: dict[str, list[str]] = {"public": ["*"], "no-network": [], "allowlist": environment.get("allowed_hosts", [])}
    return modes[environment["network_mode"]]


def _resources(environment: Mapping[str, Any]) -> vf.TaskResources:
    memory, gpus = environment.get("memory_mb"), environment.get("gpus")
    return vf.TaskResources(
        cpu=environment.get("cpus"), memory=memory / 1024 if memory else None, gpu=str(gpus) if gpus else None
    )
