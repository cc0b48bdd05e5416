"""The steps of a run, each repeatable: whatever a controller had done of it when it died, doing it again is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import evolve

from mlecore import files
from mlecore.agents import FinishedSubmission
from mlecore.backends import Handle, Image, Job, JobStatus
from mlecore.controller import collect
from mlecore.controller.experiment import Experiment, Inputs, LoadedAgent
from mlecore.controller.extensions import Extensions
from mlecore.controller.job import Made, make_job
from mlecore.errors import BackendError, GradingError, MlecoreError, PluginError
from mlecore.runs import requests
from mlecore.runs.journal import Journal, now
from mlecore.runs.lock import LockLost
from mlecore.runs.record import Attempt, Ended, RunRecord
from mlecore.runs.store import Group, write_record


class FolderGone(Exception):
    """A run's folder was deleted by hand while its group is still there."""


class Steps:
    """Each method takes a record and gives the record after the step; they block, and are called in worker threads."""

    def __init__(self, group: Group, experiment: Experiment, journal: Journal, extensions: Extensions) -> None:
        self.group = group
        self.experiment = experiment
        self.journal = journal
        self.extensions = extensions
        self.cache = group.folder / ".cache"
        self.images: dict[str, Image] = {}  # by the recipe's digest
        self.places: dict[str, str] = {}  # by competition
        self._facts: dict[str, Any] | None = None
        self.closed = False  # its controller has left, and no longer holds the group

    def write(self, record: RunRecord, **details: Any) -> RunRecord:
        """Make a state durable. Raises FolderGone, OSError."""
        if self.closed:
            raise LockLost("the controller has left")
        try:
            write_record(record)
        except FileNotFoundError:
            if self.group.folder.is_dir() and not record.folder.is_dir():
                raise FolderGone from None
            raise
        self.journal.note(record.state, record.name, **details)
        return record

    def build(self, loaded_agent: LoadedAgent) -> Image:
        """What the agent needs installed."""
        digest = loaded_agent.recipe.digest()
        if digest not in self.images:
            logs = self.group.folder / "builds"
            files.make_folder(logs)
            self.images[digest] = self.experiment.backend.build(loaded_agent.recipe, logs / f"{digest[:16]}.log")
        return self.images[digest]

    def provide(self, inputs: Inputs) -> str:
        """The competition's public data, within reach of the place."""
        id = inputs.facts.id
        if id not in self.places:
            if not inputs.data.public.is_dir():
                raise FileNotFoundError(f"the data of {id} are not there: {inputs.data.public}")
            self.places[id] = self.experiment.backend.provide(inputs.dataset, lambda done, total, what: None)
        return self.places[id]

    def begin(self, record: RunRecord) -> tuple[RunRecord, Job | None]:
        """From planned to starting, with the job to start; finished files go straight to collected, without a job."""
        loaded_agent, inputs = self.experiment.agents[record.label], self.experiment.inputs[record.competition]
        fresh = record.state == "planned"
        if fresh:
            k = self._next_attempt(record)
            attempt = Attempt(number=k, job=f"mle-{record.uid}-{k}")
            record = evolve(record, attempts=(*record.attempts, attempt), ended=None, reason="")
        assert record.attempt
        labels = {"competition": record.competition, "agent": record.agent.name, "run": record.name}
        made = make_job(
            self.experiment,
            loaded_agent,
            inputs,
            record.seed,
            record.attempt.job,
            self.group.info.uid,
            self.cache,
            labels,
        )
        if fresh:
            record = self._described(record, loaded_agent, inputs)
        if isinstance(made, FinishedSubmission):
            return self._take_finished_submission(record, made), None
        image, data = self.build(loaded_agent), self.provide(inputs)
        if fresh:
            record = self._starting(record, loaded_agent, made, image)
        return record, evolve(made.job, image=image, data=data)

    def launch(self, record: RunRecord, job: Job) -> RunRecord:
        """From starting to running. A job of this name that somebody has started already is taken over."""
        handle = self.experiment.backend.start(job)
        record = evolve(record.with_attempt(handle=handle, started_at=now()), state="running")
        self.write(record, attempt=record.attempts[-1].number, id=handle.id)
        self.extensions.started(record)
        return record

    def _next_attempt(self, record: RunRecord) -> int:
        """Beyond all that the record and the folder know of: a damaged record may have forgotten some."""
        known = [attempt.number for attempt in record.attempts]
        folder = record.folder / "attempts"
        if folder.is_dir():
            known += [int(path.name.partition(".")[0]) for path in folder.iterdir() if path.name[:1].isdigit()]
        return max(known, default=0) + 1

    def _described(self, record: RunRecord, loaded_agent: LoadedAgent, inputs: Inputs) -> RunRecord:
        experiment = self.experiment
        return evolve(
            record,
            agent=loaded_agent.use,
            backend=experiment.backend_use,
            plugins=(experiment.core, inputs.use),
            synthetic=inputs.data.synthetic,
            data_digest=inputs.data.digest,
            description_digest=inputs.description_digest,
        )

    def _starting(self, record: RunRecord, loaded_agent: LoadedAgent, made: Made, image: Image) -> RunRecord:
        if self._facts is None:
            self._facts = dict(self.experiment.backend.describe())
        files.make_folder(record.folder)
        return self.write(
            evolve(
                record,
                state="starting",
                place=self._facts,
                image_digest=image.digest,
                recipe_digest=loaded_agent.recipe.digest(),
                instructions_digest=made.instructions_digest,
                launch_digest=made.launch_digest,
                candidates=made.launch.candidates,
                grace=made.launch.grace,
                network_enforced=_truth(self._facts.get("network_enforced")),
                network_verified=_truth(self._facts.get("network_verified")),
            ),
            attempt=record.attempts[-1].number,
        )

    def _take_finished_submission(self, record: RunRecord, finished_submission: FinishedSubmission) -> RunRecord:
        files.make_folder(record.folder)
        try:
            record = collect.take_finished_submission(record, finished_submission)
        except (ValueError, FileNotFoundError) as error:
            raise PluginError(f"agent {record.agent.name}: its finished files cannot be taken: {error}") from None
        record = evolve(
            record.with_attempt(job="finished_submission", ended_at=now(), ended="finished"),
            state="collected",
            ended="finished",
        )
        self.write(record)
        self.extensions.finished(record)
        return record

    def finish(self, record: RunRecord, status: JobStatus, seconds: float | None, cancelled: bool) -> RunRecord:
        """From running, its job being at its end, to collected; or back to planned, or to cancelled or failed."""
        assert record.attempt
        handle = record.attempt.handle
        inputs = self.experiment.inputs[record.competition]
        if record.state == "running":
            record = record.with_attempt(ended_at=now(), exit_code=status.exit_code)
            record = self.write(evolve(record, state="collecting"))
        there = collect.attempt_folder(record).is_dir()
        if not there and status.phase != "gone" and handle:
            collect.fetch(self.experiment.backend, handle, record, inputs.submission_limit)
            there = True
        ended, reason, fault = attempt_end(record, status, cancelled, there)
        told = collect.read_exit(record) if there else collect.Exit()
        used = told.seconds if told.seconds is not None else seconds
        record = record.with_attempt(
            ended=ended, reason=reason, infra_failure=fault, seconds=used, exit_code=_code(status, told)
        )
        record = evolve(record, ended=ended, reason=reason, seconds=used)
        if there:
            record = evolve(record, hardware=collect.read_hardware(record), checks=collect.read_checks(record))
        if cancelled:
            record = evolve(record, state="cancelled")
        elif fault:
            record = self._after_fault(record)
        else:
            record = evolve(self._with_usage(collect.lay_out(record)), state="collected")
            told_too = [text for text in (reason, collect.refused_candidates(record)) if text]
            record = evolve(record, reason="; ".join(told_too))
        self.write(record, ended=ended, reason=record.reason)
        if cancelled:
            requests.done(record.folder)
        if record.state != "planned":
            self.extensions.finished(record)
        if handle:
            self.remove(handle)
        return record

    def _after_fault(self, record: RunRecord) -> RunRecord:
        faults = sum(attempt.infra_failure for attempt in record.attempts if attempt.number > record.retry_from)
        if faults <= self.experiment.plan.retries:
            return evolve(record, state="planned", ended=None)
        return evolve(record, state="failed", reason=f"{record.reason} (attempt {faults}, no retry left)")

    def _with_usage(self, record: RunRecord) -> RunRecord:
        """Tokens and cost, if the agent can tell; its hook reads hostile files, and a failure is only noted."""
        loaded_agent = self.experiment.agents.get(record.label)
        if loaded_agent is None or not loaded_agent.loaded.implements("usage"):
            return record
        try:
            return evolve(record, usage=loaded_agent.loaded.call("usage", logs=record.folder / "logs"))
        except Exception as error:
            self.journal.note("usage unknown", record.name, why=str(error))
            return record

    def remove(self, handle: Handle) -> None:
        """Leave nothing behind; what cannot be removed now is found when the group is taken up again."""
        try:
            self.experiment.backend.remove(handle)
        except BackendError as error:
            self.journal.note("not removed", job=handle.name, why=str(error))

    def stop(self, record: RunRecord) -> RunRecord:
        """End the job; its output stays."""
        assert record.attempt and record.attempt.handle
        self.experiment.backend.stop(record.attempt.handle, record.grace)
        return record

    def grade(self, record: RunRecord) -> tuple[RunRecord, Any]:
        """From collected to graded, once: a grade.json that is there stays. GradingError is noted in the folder."""
        from mlecore.grading.report import Report

        path = record.folder / "grade.json"
        try:
            if not path.exists():
                self._publish_grade(record, path)
            try:
                report = Report.from_json(json.loads(path.read_bytes()))
            except (ValueError, TypeError) as error:
                raise GradingError(
                    f"{path} is damaged: {error}", fix="Remove it to have the run graded again."
                ) from None
        except OSError:
            raise
        except Exception as error:
            words = {"at": now(), "error": str(error), "type": type(error).__name__}
            files.replace(record.folder / "grade_error.json", (json.dumps(words, indent=1) + "\n").encode())
            if isinstance(error, MlecoreError):
                raise
            raise GradingError(f"{type(error).__name__}: {error}") from error
        files.remove(record.folder / "grade_error.json")
        record = evolve(record, state="graded", gradings=1)
        self.write(record, status=report.status)
        self.extensions.graded(record, report)
        return record, report

    def _publish_grade(self, record: RunRecord, path: Path) -> None:
        inputs = self.experiment.inputs[record.competition]
        submission = record.submission
        report = self.experiment.grader.grade(submission, inputs.data)
        content = {**report.to_json(), "run": record.uid}
        content["submission_path"] = submission.relative_to(record.folder).as_posix() if submission else ""
        if submission is None and (refused := collect.refused_candidates(record)):
            content["reason"] = refused
        files.publish(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())

    def settle(self, record: RunRecord, state: Any, reason: str) -> RunRecord:
        """Cancel or fail a run that is not running."""
        files.make_folder(record.folder)
        record = self.write(evolve(record, state=state, reason=reason))
        requests.done(record.folder)
        return record

    def again(self, record: RunRecord) -> RunRecord:
        """Somebody asked to retry a run that had failed or was cancelled."""
        fresh = evolve(record, state="planned", ended=None, reason="", retry_from=len(record.attempts))
        record = self.write(fresh)
        requests.done(record.folder)
        return record


def attempt_end(record: RunRecord, status: JobStatus, cancelled: bool, there: bool) -> tuple[Ended, str, bool]:
    """How an attempt ended, why in words, and whether the place is to blame."""
    assert record.attempt
    if cancelled:
        return "stopped", "cancelled", False
    if status.phase == "gone" and not there:
        return "lost", status.reason or f"the place no longer has the job {record.attempt.job}", True
    if status.infra_failure:
        return "lost", status.reason or "the place ended it", True
    told = collect.read_exit(record) if there else collect.Exit()
    code = _code(status, told)
    if status.oom:
        return "oom", status.reason or "it ran out of memory", False
    time_up = f"its time limit of {record.limits.time:g} s was up"
    if told.timed_out:
        return "timed_out", time_up, False
    if status.phase != "gone" and status.exit_code == 124 and told.exit_code is None:  # the place's own limit
        return "timed_out", "; ".join(filter(None, (time_up, status.reason))), False
    if code is None:
        return "lost", status.reason or "the place cannot say how it ended", True
    if code == 0:
        return "finished", "", False
    if 128 < code < 193:
        return "crashed", status.reason or f"killed by signal {code - 128}", False
    return "crashed", status.reason or f"exit code {code}", False


def _code(status: JobStatus, told: collect.Exit) -> int | None:
    return status.exit_code if status.exit_code is not None else told.exit_code


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
