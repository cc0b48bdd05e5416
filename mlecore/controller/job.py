"""From a run to what is started: the Task that its agent gets, and the Job that its backend gets."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from uuid import uuid4

from mlecore.controller.experiment import Experiment, Inputs, JobDraft, LoadedAgent, require_network
from mlecore.controller.instructions import hardware_words, instructions_for
from mlecore.errors import PluginError, UsageError
from mlecore.model.agents import FinishedSubmission, Launch, Task
from mlecore.model.backends import Image, Job, Resources
from mlecore.model.model_access import KEYS, ModelAccess, base_url, usual_key
from mlecore.model.plan import Plan, PlannedAgent
from mlecore.model.provenance import file_digest
from mlecore.runs.code import CODE
from mlecore.util.globs import Glob
from mlecore_jobs import INSIDE

UNSET = Image(ref="", digest="")
# Where some images made for MLE-bench expect what its grading server reads.
_MOUNT = re.compile(r"(?:^|[\s=:'\"])(/private)(?:[/\s:'\"]|$)")


def make_job(
    experiment: Experiment,
    loaded_agent: LoadedAgent,
    inputs: Inputs,
    seed: int,
    job_name: str,
    group_uid: str,
) -> JobDraft | FinishedSubmission:
    """Ask the agent what to start. Raises PluginError for a wrong result, and what the agent raises."""
    plan, limits = experiment.plan, experiment.plan.limits_of(loaded_agent.planned)
    task = make_task(experiment, loaded_agent, inputs, seed, job_name)
    launch = loaded_agent.plugin.call("launch", task=task)
    if isinstance(launch, FinishedSubmission):
        if plan.data.obfuscate != "none":
            raise UsageError(
                f"agent {loaded_agent.use.name} hands in finished files, from which nothing can be hidden",
                fix="Leave out --obfuscate.",
            )
        return launch
    _check(loaded_agent, launch)
    refuse_answers(loaded_agent.use.name, launch, inputs.data.private)
    require_network(loaded_agent.use.name, launch.network, limits.network)
    access = model_access(plan, loaded_agent.planned, launch.models)
    wanted = [name for name in launch.secrets if access is None or name not in KEYS]
    job = Job(
        name=job_name,
        group=group_uid,
        image=UNSET,
        dataset=inputs.shown.dataset,
        data="",
        argv=launch.argv,
        tools={},
        files={
            **launch.files,
            "instructions.txt": task.instructions.encode(),
            "validate_submission.sh": INSIDE / "validate_submission.sh",
        },
        env={
            **launch.env,
            "MLECORE_CANDIDATES": "\n".join(launch.candidates),
            "MLECORE_SNAPSHOT_BYTES": str(4 * inputs.submission_limit),
            "MLECORE_SNAPSHOT_CODE": "\n".join(f"*{suffix}" for suffix in CODE),
        },
        stdin=launch.stdin,
        resources=Resources(
            cpus=limits.cpus,
            memory=limits.memory,
            gpus=limits.gpus,
            disk=limits.disk,
            parallel=min(len(plan), plan.execution.max_parallel or len(plan)),
            time_limit=limits.time,
            grace=launch.grace,
            network=limits.network,
            allow=limits.allow,
            model=access,
            writable_root=loaded_agent.agent.needs.writable_root,
            terminal=launch.terminal,
            secrets=tuple(dict.fromkeys((*limits.secrets, *wanted))),
        ),
    )
    told = instructions_for(limits, obfuscated=plan.data.obfuscate != "none").text
    return JobDraft(
        job=job,
        launch=launch,
        launch_digest=files_digest(launch.files),
        instructions_digest=hashlib.sha256(told.encode()).hexdigest(),
    )


def make_task(experiment: Experiment, loaded_agent: LoadedAgent, inputs: Inputs, seed: int, job_name: str) -> Task:
    """Everything that an agent may know."""
    facts, shown, planned = inputs.facts, inputs.shown, loaded_agent.planned
    limits = experiment.plan.limits_of(planned)
    access = model_access(experiment.plan, planned)
    home = experiment.backend.home(job_name)
    texts = instructions_for(limits, home, obfuscated=experiment.plan.data.obfuscate != "none")
    return Task(
        competition=shown.competition,
        title=shown.title,
        modality=facts.modality,
        metric=facts.metric,
        direction=facts.direction,
        instructions=texts.text,
        rules=texts.rules,
        description=shown.description,
        time_limit=limits.time,
        seed=seed,
        hardware=hardware_words(limits.cpus, limits.memory, limits.gpus, limits.disk),
        options=loaded_agent.planned.options,
        model=loaded_agent.planned.model,
        mcp=limits.mcp,
        endpoint=base_url(access, experiment.backend.gateway_url(job_name)) if access else planned.endpoint,
        home=home,
    )


def _check(loaded_agent: LoadedAgent, launch: object) -> None:
    if not isinstance(launch, Launch):
        raise PluginError(
            f"agent {loaded_agent.use.name}: launch returned {launch!r}, neither a Launch nor a FinishedSubmission"
        )
    if not launch.argv:
        raise PluginError(f"agent {loaded_agent.use.name}: its launch has an empty argv")
    for name in launch.files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\n" in name or not path.parts:
            raise PluginError(f"agent {loaded_agent.use.name}: {name!r} is not a path below its home")
    for text in launch.candidates:
        try:
            Glob(text)
        except ValueError as error:
            raise PluginError(f"agent {loaded_agent.use.name}: candidate for the submission: {error}") from None
    if not launch.candidates:
        raise PluginError(f"agent {loaded_agent.use.name}: it names no candidate for the submission")


def refuse_answers(agent: str, launch: Launch, private: Path) -> None:
    """Raises UsageError if a launch brings files from a folder of answers, or names such a folder to be read.

    ``private`` is the folder of this competition's answers.
    """
    for what in _asked_for(launch, private):
        raise UsageError(
            f"agent {agent} asks for the answers ({what}), and no run gets them: they stay with the controller, which"
            " grades after the run",
            fix="Have it check its submission with validate_submission.sh, and score its ideas on training data.",
        )


def _asked_for(launch: Launch, private: Path) -> Iterator[str]:
    own = private.resolve()
    folders: dict[Path, bool] = {}
    for name, content in launch.files.items():
        if isinstance(content, Path):
            path = content.resolve() if content.is_symlink() else content
            if path.parent not in folders:
                folder = path.parent.resolve()
                folders[path.parent] = folder.is_relative_to(own) or _holds_answers(folder)
            if folders[path.parent]:
                yield f"{name} comes from {path}"
    for text in (*launch.argv, *launch.env.values()):
        for named in (str(private), str(own)):
            if named in text:
                yield named
        if found := _MOUNT.search(text):
            yield found[1]


def _holds_answers(folder: Path) -> bool:
    """By the layout of prepared data: DATA/ID/prepared/private and what lies below, of any edition."""
    return any(below == "private" and above.partition("@")[0] == "prepared" for above, below in pairwise(folder.parts))


def tools(inputs: Inputs, cache: Path) -> dict[str, bytes | Path]:
    """The files in /opt/mlecore."""
    return {
        "init": INSIDE / "init",
        "validate": INSIDE / "validate",
        "sample.csv": sample_file(inputs, cache),
        "submission.json": inputs.form.encode(),
    }


def sample_file(inputs: Inputs, cache: Path) -> Path:
    """The sample as a plain file; one inside an archive is unpacked once per group.

    Runs of one competition are started at the same time, so that each unpacks to a name of its own.
    """
    from mlecore.model.sample import open_sample, sample_place

    if inputs.shown.sample is not None:
        return inputs.shown.sample
    path, member = sample_place(inputs.facts, inputs.data.public)
    if member is None:
        return path
    target = cache / f"{inputs.facts.id}-{inputs.data.digest[:12]}.sample.csv"
    if not target.exists():
        cache.mkdir(exist_ok=True)
        partial = target.with_suffix(f".{uuid4().hex}.partial")
        with open_sample(inputs.facts, inputs.data.public) as plain:
            shutil.copyfile(plain, partial)
        partial.replace(target)
    return target


def model_access(plan: Plan, agent: PlannedAgent, more: Sequence[str] = ()) -> ModelAccess | None:
    """What the gateway beside a job lets through, with ``more`` models; None: the job has none."""
    if plan.limits.network != "llm" or not agent.endpoint:
        return None
    gateway = plan.gateway
    return ModelAccess(
        endpoint=agent.endpoint,
        key=gateway.key or usual_key(agent.endpoint),
        models=tuple(dict.fromkeys((*filter(None, (agent.model,)), *more, *gateway.models))),
        any_model=gateway.any_model,
        allow=gateway.allow,
        server_tools=gateway.server_tools,
        budgets=gateway.budgets,
        prices=gateway.prices,
        retries=gateway.retries,
        max_calls=gateway.max_calls,
        transcripts=gateway.transcripts,
    )


_digests: dict[tuple[str, int, int], str] = {}


def files_digest(files: Mapping[str, bytes | Path]) -> str:
    """SHA-256 (hex) of the names and contents of the files that an agent's launch adds."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        if isinstance(content, Path):
            seen = content.stat()
            key = (str(content), seen.st_size, seen.st_mtime_ns)
            if key not in _digests:
                _digests[key] = file_digest(content)
            inner = _digests[key]
        else:
            inner = hashlib.sha256(content).hexdigest()
        digest.update(f"{name}\0{inner}\n".encode())
    return digest.hexdigest()
