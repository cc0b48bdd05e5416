"""Task folders of Harbor: instruction, environment, and a verifier that grades in a container of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w
from attrs import evolve, frozen

from mle_ext_harbor.reward import RewardKind, best_score
from mlecore.controller.experiment import Inputs, read_inputs
from mlecore.controller.instructions import instructions_for
from mlecore.controller.job import tools
from mlecore.data.prepared import Prepared
from mlecore.errors import UsageError
from mlecore.model.agents import HOME
from mlecore.model.plan import Plan, PlannedData
from mlecore.model.record import Limits
from mlecore.runs.plan_checks import check_numbers
from mlecore.util import files
from mlecore.util.schema import plain
from mlecore.util.scratch import scratch
from mlecore_jobs import INSIDE

if TYPE_CHECKING:
    from mle_ext_harbor.images import Builder, Content

HERE = Path(__file__).parent
VERIFIER = HERE / "verifier"
_ROOT = Path("/mlecore")  # in the verifier's container
_KEPT = ("submission", "code", "logs")  # what the verifier, and later the import, gets of the agent's work
_SLACK = 600  # seconds that the verifier may take beyond the competition's own limit: it imports what it needs
_MODES = {"open": "public", "llm": "allowlist", "none": "no-network"}  # networks in Harbor's words
_COLLECTED = 16 * 2**20  # bytes that a submission may have in an image's task; or ten times the sample's, if more


@frozen(kw_only=True)
class Settings:
    """The same for all tasks of an export."""

    edition: str
    synthetic: bool
    data: tuple[str, ...]
    image: str
    verifier_image: str | None
    verifier: bool  # False: Harbor does not grade, and no image has the answers
    repository: str | None  # of images with the data inside; None: the data are mounted
    reward: RewardKind
    limits: Limits


def export(ids: Sequence[str], out: Path, settings: Settings, say: Callable[[str], None] = lambda text: None) -> None:
    """Write a folder for each competition, all or none. Raises UsageError if ``out`` exists, NotPrepared, BackendError.

    Images that were built stay, also if a later one fails; they are then not built again.
    """
    if out.exists():
        raise UsageError(f"{out} already exists", fix="Name a new folder: --out DIR")
    plan = Plan(data=PlannedData(edition=settings.edition, synthetic=settings.synthetic), limits=settings.limits)
    check_numbers(plan)
    found = [read_inputs(id, plan, settings.data, lambda text: None) for id in ids]
    builder = None
    if settings.repository is not None:
        from mle_ext_harbor.images import Builder

        builder = Builder(
            repository=settings.repository, base=settings.image, verifier=settings.verifier_image, say=say
        )
    with files.output(out) as new, scratch() as cache:
        for inputs in found:
            _write_task(new / inputs.facts.id, inputs, settings, builder, cache)


def _write_task(folder: Path, inputs: Inputs, settings: Settings, builder: Builder | None, cache: Path) -> None:
    config = _config(inputs, settings)
    text = instructions_for(settings.limits).text
    _text(folder / "instruction.md", f"{text}\nTHE TASK: {inputs.shown.title}\n\n{inputs.shown.description}")
    seen = _seen(inputs, text, cache)
    if builder is None:
        _write_environment(folder / "environment", inputs.data, seen, settings)
    else:
        kept = {f"{HOME}/{name}/": b"" for name in _KEPT}
        image = builder.build_agent(inputs, seen | kept)
        config["environment"] |= {"docker_image": image, "workdir": str(HOME)}
        _text(folder / "environment" / "Dockerfile", f"FROM {image}\n")  # Harbor wants the folder, and git a file in it
    if settings.verifier:
        config["verifier"] = _write_verifier(folder / "tests", inputs, settings, builder)
    _text(folder / "task.toml", tomli_w.dumps(config, multiline_strings=True))


def _config(inputs: Inputs, settings: Settings) -> dict[str, Any]:
    """task.toml, in version 1.4 of its schema."""
    facts, limits = inputs.facts, settings.limits
    environment: dict[str, Any] = {"network_mode": _MODES[limits.network]}
    if limits.allow:
        environment["allowed_hosts"] = list(limits.allow)
    if limits.cpus:
        environment["cpus"] = limits.cpus
    if limits.memory:
        environment["memory_mb"] = limits.memory // 2**20
    if limits.gpus:
        environment["gpus"] = limits.gpus
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
            "reward": settings.reward,
        },
        "agent": {"timeout_sec": limits.time},
        "environment": environment,
    }


def _seen(inputs: Inputs, text: str, cache: Path) -> dict[str, Content]:
    """What the agent finds in its container beside the data, by its path there."""
    found: dict[str, Content] = {f"/opt/mlecore/{name}": content for name, content in tools(inputs, cache).items()}
    found[f"{HOME}/validate_submission.sh"] = INSIDE / "validate_submission.sh"
    found[f"{HOME}/instructions.txt"] = text.encode()
    return found


def _tests(inputs: Inputs, inside: Prepared, settings: Settings) -> dict[str, Content]:
    """What the verifier runs, by its path in the task's folder and in its container."""
    known = inputs.data.kind(inputs.facts) == "published" and inputs.facts.comparability != "none"
    best = None if known or settings.reward == "medal" else best_score(inputs.competition, inputs.data)
    return {
        "tests/test.sh": VERIFIER / "test.sh",
        "tests/grade.py": VERIFIER / "grade.py",
        "tests/reward.py": HERE / "reward.py",
        "tests/settings.json": json.dumps({"reward": settings.reward, "best": best}).encode(),
        "tests/prepared.json": json.dumps(plain(inside)).encode(),
    }


def _write_environment(folder: Path, data: Prepared, seen: Mapping[str, Content], settings: Settings) -> None:
    """An image with what is small, and a mount of the data."""
    for name, content in seen.items():
        _file(folder / name.lstrip("/"), content)
    _text(
        folder / "Dockerfile",
        f"FROM {settings.image}\nCOPY opt /opt\nCOPY home {HOME}\n"
        f"RUN mkdir -p {' '.join(f'{HOME}/{name}' for name in _KEPT)}\nWORKDIR {HOME}\n",
    )
    _compose(folder, {f"{HOME}/data": data.public})


def _write_verifier(folder: Path, inputs: Inputs, settings: Settings, builder: Builder | None) -> dict[str, Any]:
    """What grades in a container of its own; the table about it for task.toml."""
    inside = evolve(
        inputs.data,
        root=_ROOT / "prepared",
        lists=_ROOT / "lists",
        leaderboard=_ROOT / "leaderboard.csv" if inputs.data.leaderboard else None,
    )
    tests = _tests(inputs, inside, settings)
    for name, content in tests.items():
        _file(folder.parent / name, content)
    limits = inputs.facts.limits
    environment: dict[str, Any] = {"memory_mb": int(limits.memory_gb * 1024) + 1024}
    table = {
        "environment_mode": "separate",
        "timeout_sec": float(limits.seconds + _SLACK),
        "environment": environment,
    }
    if builder is None:
        _write_verifier_image(folder, inputs, inside, settings)
        return table
    environment["docker_image"] = builder.build_verifier(inputs, inside, tests)
    environment["network_mode"] = _MODES["open" if settings.limits.network == "open" else "none"]
    most = max(_COLLECTED, 10 * inputs.sample_bytes)
    script = (VERIFIER / "collect.sh").read_text()
    return {**table, "collect": [{"command": f"most={most}\n{script}", "timeout_sec": float(_SLACK)}]}


def _write_verifier_image(folder: Path, inputs: Inputs, inside: Prepared, settings: Settings) -> None:
    """An image with mlecore and the competition, and a mount of the answers."""
    data, distribution = inputs.data, inputs.use.distribution
    wanted = f"mlecore=={version('mlecore')} {distribution}=={version(distribution)}"
    image = settings.verifier_image or settings.image
    install = "" if settings.verifier_image else f"RUN pip install --no-cache-dir {wanted}\n"
    names = "test.sh grade.py reward.py settings.json prepared.json"
    _text(folder / "Dockerfile", f"FROM {image}\n{install}COPY {names} /tests/\n")
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
