"""Starting a run: its agent says what to start, and the backend starts that. Each step can be repeated.

All functions block; for any thread.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from attrs import evolve

from mlecore.controller.context import Context
from mlecore.controller.job import make_job, tools
from mlecore.controller.provisions import Provisions
from mlecore.controller.records import set_aside
from mlecore.errors import ImageGone, PluginError
from mlecore.model.agents import FinishedSubmission
from mlecore.model.backends import Job
from mlecore.model.record import FINISHED, Attempt, Collected, RunRecord
from mlecore.runs.journal import now
from mlecore.runs.measured import spent_in
from mlecore.runs.secrets import remember
from mlecore.util import files
from mlecore_jobs.fetching import GATEWAY_LOG

_KEPT = (("submission",), ("logs",), ("code",), ("snapshots",))


def begin(context: Context, provisions: Provisions, record: RunRecord) -> tuple[RunRecord, Job | None]:
    """From planned to starting, with the job to start; finished files go straight to collected, without a job."""
    experiment, group = context.experiment, context.group
    agent, inputs = experiment.agent_of(record.label), experiment.inputs_of(record.competition)
    fresh = record.state == "planned"
    if fresh:
        set_aside(record)  # a controller may have died before it had done so
        number = _next_attempt(record)
        attempt = Attempt(number=number, job=f"mle-{record.uid}-{number}")
        record = evolve(record, attempts=(*record.attempts, attempt), ended=None, reason="", seconds=None)
    assert record.attempt
    draft = experiment.drafts.get(record.attempt.job)  # where the preflight has asked the agent already
    draft = draft or make_job(experiment, agent, inputs, record.seed, record.attempt.job, group.info.uid)
    if fresh:
        began = (use for use in group.info.plugins if use.name == record.competition)
        record = evolve(
            record,
            agent=agent.use,
            backend=experiment.backend_use,
            plugins=(experiment.core, next(began, inputs.use)),
            data_kind=inputs.data.kind(inputs.facts),
            data_digest=inputs.data.digest,
            answers_digest=inputs.data.private_digest,
            task=None if record.obfuscation == "none" else inputs.shown.competition,
            description_digest=inputs.shown.description_digest,
        )
    if isinstance(draft, FinishedSubmission):
        return _take_finished_submission(context, record, draft), None
    image, data = provisions.image(record.label), provisions.data(record.competition)
    job = evolve(
        _with_earlier_spending(draft.job, record),
        image=image,
        data=data,
        tools=tools(inputs, group.folder / ".cache"),
        labels={"competition": record.competition, "agent": record.agent.name, "run": record.name},
    )
    if fresh:
        record = evolve(
            record,
            state="starting",
            sandbox=provisions.sandbox.get(),
            image_digest=image.digest,
            installed=image.installed,
            recipe_digest=agent.recipe.digest(),
            instructions_digest=draft.instructions_digest,
            launch_digest=draft.launch_digest,
            candidates=draft.launch.candidates,
            grace=draft.launch.grace,
            given_secrets=job.resources.secrets,
            access=job.resources.model,
        )
        files.make_folder(record.folder, below=group.folder)
        record = context.records.write(record, attempt=record.attempts[-1].number)
    return record, job


def launch(context: Context, provisions: Provisions, record: RunRecord, job: Job) -> RunRecord:
    """From starting to waiting. A job of this name that was started before is taken over."""
    remember(record.folder, record.secrets)
    backend = context.experiment.backend
    try:
        handle = backend.start(job)
    except ImageGone:
        image = provisions.image(record.label, gone=job.image)
        record = evolve(record, image_digest=image.digest)
        handle = backend.start(evolve(job, image=image))
    record = evolve(record.with_attempt(handle=handle), state="waiting")
    context.records.write(record, attempt=record.attempts[-1].number, id=handle.id)
    context.extensions.put("run_started", record)
    return record


def _next_attempt(record: RunRecord) -> int:
    """A number above all that the record and the folder mention: a damaged record may lack some."""
    known = [attempt.number for attempt in record.attempts]
    folder = record.folder / "attempts"
    if folder.is_dir():
        known += [int(path.name.partition(".")[0]) for path in folder.iterdir() if path.name[:1].isdigit()]
    return max(known, default=0) + 1


def _with_earlier_spending(job: Job, record: RunRecord) -> Job:
    """The job with what earlier attempts spent of its budgets, except attempts whose result was replaced."""
    if job.resources.model is None:
        return job
    replaced = record.forced[-1].attempt if record.forced else 0
    earlier = [str(attempt.number) for attempt in record.attempts[:-1] if attempt.number > replaced]
    logs = [record.folder / "attempts" / number / "rest" / GATEWAY_LOG for number in earlier]
    model = evolve(job.resources.model, spent=spent_in(logs))
    return evolve(job, resources=evolve(job.resources, model=model))


def _take_finished_submission(context: Context, record: RunRecord, finished: FinishedSubmission) -> RunRecord:
    """An agent's finished files, put into the run's folder as if from a sandbox."""
    files.make_folder(record.folder, below=context.group.folder)
    try:
        record = copy_finished(record, finished)
    except (ValueError, FileNotFoundError) as error:
        raise PluginError(f"agent {record.agent.name}: its files cannot be copied: {error}") from None
    record = record.with_attempt(job=FINISHED, ended_at=now(), ended="finished")
    record = evolve(record, state="collected", ended="finished")
    context.records.write(record)
    context.extensions.put("run_finished", record)
    return record


def copy_finished(record: RunRecord, finished: FinishedSubmission) -> RunRecord:
    """Copy finished files to their places. Repeatable. Raises ValueError for another place, OSError."""
    sources, candidate, copied = dict(finished.files), None, 0
    if finished.submission is not None:
        candidate = "submission/submission.csv"
        sources[candidate] = finished.submission
    for name, source in sources.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or path.parts[:1] not in _KEPT:
            raise ValueError(f"{name!r} is not a path for a run's file: use logs/..., code/... or snapshots/...")
        target = record.folder / path
        files.make_folder(target.parent, below=record.folder)
        files.copy(source, target)
        copied += target.stat().st_size
    files.make_folder(record.folder / "logs", below=record.folder)
    return evolve(record, collected=Collected(files=len(sources), bytes=copied, candidate=candidate))
