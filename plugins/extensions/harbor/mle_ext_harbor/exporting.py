"""Task folders of Harbor: instruction, environment, and a verifier that grades in a container of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tomli_w
from attrs import evolve, frozen

from mlecore.controller.experiment import Inputs, read_inputs
from mlecore.controller.instructions import hardware_words, instructions
from mlecore.controller.job import tools
from mlecore.data.prepared import Prepared
from mlecore.errors import UsageError
from mlecore.model.agents import HOME, Network
from mlecore.model.plan import Plan, PlannedData
from mlecore.util import files
from mlecore.util.schema import plain
from mlecore.util.scratch import scratch
from mlecore_jobs import INSIDE

VERIFIER = Path(__file__).parent / "verifier"
_ROOT = Path("/mlecore")  # in the verifier's container
_KEPT = ("submission", "code", "logs")  # what the verifier, and later the import, gets of the agent's work
_SLACK = 600  # seconds that the verifier may take beyond the competition's own limit: it imports what it needs


@frozen(kw_only=True)
class Settings:
    """The same for all tasks of an export."""

    edition: str
    synthetic: bool
    data: tuple[str, ...]
    image: str
    verifier_image: str | None
    time_limit: float  # seconds
    cpus: float | None
    memory: int | None  # bytes
    gpus: int
    allow: tuple[str, ...]
    network: Network

    @property
    def reaches(self) -> Network:
        """What the agent is told about its network."""
        return "llm" if self.allow else self.network


def export(ids: Sequence[str], out: Path, settings: Settings) -> None:
    """Write a folder for each competition, all or none. Raises UsageError if ``out`` exists, and NotPrepared."""
    if out.exists():
        raise UsageError(f"{out} already exists", fix="Name a new folder: --out DIR")
    plan = Plan(data=PlannedData(edition=settings.edition, synthetic=settings.synthetic))
    found = [read_inputs(id, plan, settings.data, lambda text: None) for id in ids]
    with files.output(out) as new:
        for inputs in found:
            _write_task(new / inputs.facts.id, inputs, settings)


def _write_task(folder: Path, inputs: Inputs, settings: Settings) -> None:
    _text(folder / "task.toml", tomli_w.dumps(_config(inputs, settings)))
    hardware = hardware_words(settings.cpus, settings.memory, settings.gpus, None)
    text = instructions(time_limit=settings.time_limit, hardware=hardware, network=settings.reaches).text
    _text(folder / "instruction.md", f"{text}\nTHE TASK: {inputs.shown.title}\n\n{inputs.shown.description}")
    _write_environment(folder / "environment", inputs, settings, text)
    _write_verifier(folder / "tests", inputs.data, settings, inputs.use.distribution)


def _config(inputs: Inputs, settings: Settings) -> dict[str, Any]:
    """task.toml, in version 1.4 of its schema."""
    facts, limits = inputs.facts, inputs.facts.limits
    environment: dict[str, Any] = {"network_mode": "allowlist" if settings.allow else _MODES[settings.network]}
    if settings.allow:
        environment["allowed_hosts"] = list(settings.allow)
    if settings.cpus:
        environment["cpus"] = settings.cpus
    if settings.memory:
        environment["memory_mb"] = settings.memory // 2**20
    if settings.gpus:
        environment["gpus"] = settings.gpus
    return {
        "schema_version": "1.4",
        "artifacts": [{"source": f"{HOME}/{name}"} for name in _KEPT],
        "task": {"name": f"mlecore/{facts.id}", "description": facts.title, "keywords": [facts.modality, facts.task]},
        "metadata": {
            "competition": facts.id,
            "edition": settings.edition,
            "data_kind": inputs.data.kind(facts),
            "data_digest": inputs.data.digest,
            "synthetic": settings.synthetic,
        },
        "agent": {"timeout_sec": settings.time_limit},
        "verifier": {
            "environment_mode": "separate",
            "timeout_sec": float(limits.seconds + _SLACK),
            "environment": {"memory_mb": int(limits.memory_gb * 1024) + 1024},
        },
        "environment": environment,
    }


_MODES: Mapping[Network, str] = {"none": "no-network", "open": "public"}


def _write_environment(folder: Path, inputs: Inputs, settings: Settings, text: str) -> None:
    """An image with what is small, and a mount of the data."""
    with scratch() as cache:
        for name, content in tools(inputs, cache).items():
            _file(folder / "opt" / name, content)
    _file(folder / "home" / "validate_submission.sh", INSIDE / "validate_submission.sh")
    _text(folder / "home" / "instructions.txt", text)
    _text(
        folder / "Dockerfile",
        f"FROM {settings.image}\nCOPY opt /opt/mlecore\nCOPY home {HOME}\n"
        f"RUN mkdir -p {' '.join(f'{HOME}/{name}' for name in _KEPT)}\nWORKDIR {HOME}\n",
    )
    _compose(folder, {f"{HOME}/data": inputs.data.public})


def _write_verifier(folder: Path, data: Prepared, settings: Settings, distribution: str) -> None:
    """An image with mlecore and the competition, and a mount of the answers."""
    for name in ("test.sh", "grade.py"):
        _file(folder / name, VERIFIER / name)
    inside = evolve(
        data,
        root=_ROOT / "prepared",
        lists=_ROOT / "lists",
        leaderboard=_ROOT / "leaderboard.csv" if data.leaderboard else None,
    )
    _text(folder / "prepared.json", json.dumps(plain(inside)))
    wanted = f"mlecore=={version('mlecore')} {distribution}=={version(distribution)}"
    image = settings.verifier_image or settings.image
    install = "" if settings.verifier_image else f"RUN pip install --no-cache-dir {wanted}\n"
    _text(folder / "Dockerfile", f"FROM {image}\n{install}COPY test.sh grade.py prepared.json /tests/\n")
    mounts = {str(inside.root): data.root, str(inside.lists): data.lists}
    if data.leaderboard:
        mounts[str(inside.leaderboard)] = data.leaderboard
    _compose(folder, mounts, network_mode="none")  # Harbor's own no-network needs another container beside it


def _compose(folder: Path, mounts: Mapping[str, Path], **service: str) -> None:
    """What Harbor merges into its own file for Docker Compose. JSON is YAML."""
    volumes = [
        {"type": "bind", "source": str(path.resolve()).replace("$", "$$"), "target": target, "read_only": True}
        for target, path in mounts.items()
    ]
    _text(
        folder / "docker-compose.yaml",
        json.dumps({"services": {"main": {**service, "volumes": volumes}}}, indent=1) + "\n",
    )


def _text(path: Path, text: str) -> None:
    _file(path, text.encode())


def _file(path: Path, content: bytes | Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        shutil.copyfile(content, path)
    with path.open("rb") as file:
        path.chmod(0o755 if file.read(2) == b"#!" else 0o644)
