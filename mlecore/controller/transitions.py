"""The steps of a run. Each is repeatable: after a controller died in a step, repeating the step is right."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from mlecore import files
from mlecore.agents import FinishedSubmission, Usage
from mlecore.backends import GATEWAY_LOG, RELAY_LOG, Handle, Image, Job, JobStatus, Sandbox
from mlecore.controller import collect
from mlecore.controller.ending import exit_code, infra_failures, judge_attempt, time_used
from mlecore.controller.endpoint_failures import availability
from mlecore.controller.experiment import Experiment, Inputs, LoadedAgent
from mlecore.controller.extensions import Extensions
from mlecore.controller.failures import FolderGone
from mlecore.controller.job import Made, make_job
from mlecore.controller.provisions import Provisions
from mlecore.controller.replacing import set_aside, without_result
from mlecore.errors import BackendError, DataError, GradingError, ImageGone, MlecoreError, NotPrepared, PluginError
from mlecore.registry.provenance import PluginUse
from mlecore.runs import requests
from mlecore.runs.cancelled import REASON, add_cancelled
from mlecore.runs.journal import Journal, now
from mlecore.runs.lock import LockLost
from mlecore.runs.measured import difference, measure, spent_in
from mlecore.runs.record import FINISHED, Attempt, Availability, RunRecord
from mlecore.runs.refused import relay_refusals
from mlecore.runs.same import require_same_data
from mlecore.runs.secrets import remember
from mlecore.runs.store import Group, require_group, write_record
from mlecore.schema import SchemaError, plain

if TYPE_CHECKING:
    from mlecore.data import Prepared
    from mlecore.grading.report import Report


class Transitions:
    """Each step takes a record and returns the record after it. They block, and are called in worker threads."""

    def __init__(
        self, group: Group, experiment: Experiment, journal: Journal, extensions: Extensions, provisions: Provisions
    ) -> None:
        self._group = group
        self._experiment = experiment
        self._journal = journal
        self._extensions = extensions
        self._provisions = provisions
        self._cache = group.folder / ".cache"
        self._sandbox: Sandbox | None = None
        self._cancelling = threading.Lock()
        self.closed = False  # its controller no longer holds the group

    def _write(self, record: RunRecord, **details: Any) -> RunRecord:
        """Make a state durable. Raises FolderGone, OSError."""
        if self.closed:
            raise LockLost("the controller has left")
        require_group(self._group)
        try:
            record = write_record(record)
        except FileNotFoundError:
            require_group(self._group)  # it may have gone just now
            if not record.folder.is_dir():
                raise FolderGone from None
            raise
        self._journal.note(record.state, record.name, **details)
        return record

    def begin(self, record: RunRecord) -> tuple[RunRecord, Job | None]:
        """From planned to starting, with the job to start; finished files go straight to collected, without a job."""
        agent = self._experiment.agent_of(record.label)
        inputs = self._experiment.inputs_of(record.competition)
        fresh = record.state == "planned"
        if fresh:
            set_aside(record)  # a controller may have died before it had done so
            number = self._next_attempt(record)
            attempt = Attempt(number=number, job=f"mle-{record.uid}-{number}")
            record = evolve(record, attempts=(*record.attempts, attempt), ended=None, reason="")
        assert record.attempt
        labels = {"competition": record.competition, "agent": record.agent.name, "run": record.name}
        made = make_job(
            self._experiment,
            agent,
            inputs,
            record.seed,
            record.attempt.job,
            self._group.info.uid,
            self._cache,
            labels,
        )
        if fresh:
            record = self._described(record, agent, inputs)
        if isinstance(made, FinishedSubmission):
            return self._take_finished_submission(record, made), None
        made = evolve(made, job=_with_earlier_spending(made.job, record))
        image, data = self._provisions.image(record.label), self._provisions.data(record.competition)
        if fresh:
            record = self._starting(record, agent, made, image)
        return record, evolve(made.job, image=image, data=data)

    def launch(self, record: RunRecord, job: Job) -> RunRecord:
        """From starting to running. A job of this name that was started before is taken over."""
        remember(record.folder, record.secrets)
        try:
            handle = self._experiment.backend.start(job)
        except ImageGone:
            image = self._provisions.rebuild(record.label, job.image)
            record = evolve(record, image_digest=image.digest)
            handle = self._experiment.backend.start(evolve(job, image=image))
        record = evolve(record.with_attempt(handle=handle, started_at=now()), state="running")
        self._write(record, attempt=record.attempts[-1].number, id=handle.id)
        self._extensions.started(record)
        return record

    def _next_attempt(self, record: RunRecord) -> int:
        """A number above all that the record and the folder mention: a damaged record may lack some."""
        known = [attempt.number for attempt in record.attempts]
        folder = record.folder / "attempts"
        if folder.is_dir():
            known += [int(path.name.partition(".")[0]) for path in folder.iterdir() if path.name[:1].isdigit()]
        return max(known, default=0) + 1

    def _described(self, record: RunRecord, agent: LoadedAgent, inputs: Inputs) -> RunRecord:
        experiment = self._experiment
        return evolve(
            record,
            agent=agent.use,
            backend=experiment.backend_use,
            plugins=(experiment.core, self._grader(record.competition)),
            data_kind=inputs.data.kind(inputs.facts),
            data_digest=inputs.data.digest,
            answers_digest=inputs.data.private_digest,
            description_digest=inputs.description_digest,
        )

    def _grader(self, competition: str) -> PluginUse:
        """The competition's plugin that the group began with."""
        began = (use for use in self._group.info.plugins if use.name == competition)
        return next(began, self._experiment.inputs_of(competition).use)

    def _starting(self, record: RunRecord, agent: LoadedAgent, made: Made, image: Image) -> RunRecord:
        if self._sandbox is None:
            self._sandbox = self._experiment.backend.describe()
        files.make_folder(record.folder, below=self._group.folder)
        return self._write(
            evolve(
                record,
                state="starting",
                sandbox=self._sandbox,
                image_digest=image.digest,
                installed=image.installed,
                recipe_digest=agent.recipe.digest(),
                instructions_digest=made.instructions_digest,
                launch_digest=made.launch_digest,
                candidates=made.launch.candidates,
                grace=made.launch.grace,
                given_secrets=made.job.resources.secrets,
                access=made.job.resources.model,
            ),
            attempt=record.attempts[-1].number,
        )

    def _take_finished_submission(self, record: RunRecord, submission: FinishedSubmission) -> RunRecord:
        files.make_folder(record.folder, below=self._group.folder)
        try:
            record = collect.take_finished_submission(record, submission)
        except (ValueError, FileNotFoundError) as error:
            raise PluginError(f"agent {record.agent.name}: its finished files cannot be taken: {error}") from None
        record = evolve(
            record.with_attempt(job=FINISHED, ended_at=now(), ended="finished"),
            state="collected",
            ended="finished",
        )
        self._write(record)
        self._extensions.finished(record)
        return record

    def finish(self, record: RunRecord, status: JobStatus, seconds: float | None, cancelled: bool) -> RunRecord:
        """From running, its job being at its end, to collected; or back to planned, or to cancelled or failed."""
        assert record.attempt
        handle = record.attempt.handle
        if record.state == "running":
            record = record.with_attempt(ended_at=now(), exit_code=status.exit_code)
            record = self._write(evolve(record, state="collecting"))
        require_group(self._group)
        there = collect.attempt_folder(record).is_dir()
        if not there and status.phase != "gone" and handle:
            collect.fetch(
                self._experiment.backend,
                handle,
                record,
                self._experiment.submission_limit(record.competition),
                status.seconds,
            )
            there = True
        if not there:
            files.remove(files.partial(collect.attempt_folder(record)))  # its job is gone: it will never be complete
        reported = collect.read_exit(record) if there else collect.Exit()
        used, doubt = time_used(record, status, reported, seconds)
        found = self._availability(record, used) if there else None
        end = judge_attempt(
            record,
            status,
            cancelled=cancelled,
            fetched=there,
            found=found,
            retries=self._experiment.plan.execution.retries,
        )
        reason = "; ".join(filter(None, (end.reason, doubt)))
        record = record.with_attempt(
            ended=end.ended,
            reason=reason,
            infra_failure=end.infra_failure,
            in_doubt=end.in_doubt,
            seconds=used,
            exit_code=exit_code(status, reported),
            availability=found,
        )
        hardware = plain(status.hardware) if status.hardware else {}
        record = evolve(record, ended=end.ended, reason=reason, seconds=used, hardware=hardware)
        if there:
            record = evolve(record, checks=collect.read_checks(record))
        if cancelled:
            record = evolve(record, state="cancelled")
        elif end.infra_failure:
            record = self._after_infra_failure(record)
        else:
            record = evolve(self._with_usage(collect.lay_out(record)), state="collected")
            reasons = filter(None, (reason, collect.refused_candidates(record)))
            record = evolve(record, reason="; ".join(reasons))
        self._write(record, ended=record.ended, reason=record.reason)
        if cancelled:
            requests.remove(self._group.folder, record.name)
        if record.state != "planned":
            self._extensions.finished(record)
        if handle:
            self._remove(handle)
        return record

    def _availability(self, record: RunRecord, used: float | None) -> Availability | None:
        if record.access is None:
            return None
        log = collect.attempt_folder(record) / "rest" / GATEWAY_LOG
        found = availability(log if log.exists() else record.folder / GATEWAY_LOG, record.access)
        if found is None or used is None:
            return found
        at_end = min(found.failing_at_end, used)
        return evolve(found, failing_seconds=min(found.failing_seconds, used), failing_at_end=at_end)

    def _after_infra_failure(self, record: RunRecord) -> RunRecord:
        failures = infra_failures(record)
        if failures <= self._experiment.plan.execution.retries:
            return evolve(record, state="planned", ended=None)
        return evolve(record, state="failed", reason=f"{record.reason} (attempt {failures}, no retry left)")

    def _with_usage(self, record: RunRecord) -> RunRecord:
        """What the logs of relay and gateway tell, and what the agent's own logs report of its usage."""
        record = evolve(record, relay_refused=relay_refusals(record.folder / RELAY_LOG))
        reported = self._reported_usage(record)
        calls = None
        if record.access:
            calls = measure(record.folder / GATEWAY_LOG, record.access.budgets, record.access.spent)
        if calls is None:
            return evolve(record, usage=reported)
        words = difference(calls, reported.input_tokens, reported.output_tokens) if reported else ""
        if words:
            self._journal.note("usage differs", record.name, why=words)
        return evolve(record, calls=calls, usage=calls.usage, reported_usage=reported, usage_difference=words)

    def _reported_usage(self, record: RunRecord) -> Usage | None:
        """As the agent's hook reports them; it reads hostile files, so a failure is only noted."""
        agent = self._experiment.agents.get(record.label)
        if agent is None or not agent.plugin.implements("usage"):
            return None
        try:
            usage: Usage | None = agent.plugin.call("usage", logs=record.folder / "logs")
        except Exception as error:
            self._journal.note("usage unknown", record.name, why=str(error))
            return None
        return usage

    def _remove(self, handle: Handle) -> None:
        """Remove the job; what cannot be removed now is found when the group is resumed."""
        try:
            self._experiment.backend.remove(handle)
        except BackendError as error:
            self._journal.note("not removed", job=handle.name, why=str(error))

    def remove_job(self, handle: Handle) -> None:
        """End and remove a job, with its output."""
        self._experiment.backend.stop(handle, 0.0)
        self._remove(handle)

    def stop(self, record: RunRecord) -> RunRecord:
        """End the job; its output stays."""
        assert record.attempt and record.attempt.handle
        self._experiment.backend.stop(record.attempt.handle, record.grace)
        return record

    def grade(self, record: RunRecord) -> tuple[RunRecord, Report]:
        """From collected to graded, once: a grade.json that is there stays, unless it cannot be read.

        GradingError is noted in the folder.
        """
        require_group(self._group)
        self._experiment.inputs_of(record.competition)
        path, gradings = record.folder / "grade.json", max(1, record.gradings)
        try:
            report = self._report_there(record)
            if report is None:
                report = self._publish_grade(record, path)
                gradings = record.gradings + 1
        except OSError:
            raise
        except Exception as error:
            words = {"at": now(), "error": str(error), "type": type(error).__name__}
            files.replace(record.folder / "grade_error.json", (json.dumps(words, indent=1) + "\n").encode())
            if isinstance(error, MlecoreError):
                raise
            raise GradingError(f"{type(error).__name__}: {error}") from error
        files.remove(record.folder / "grade_error.json")
        files.remove(files.temporary(path))  # from a controller that was killed while publishing the report
        record = evolve(record, state="graded", gradings=gradings)
        self._write(record, status=report.status)
        self._extensions.graded(record, report)
        return record, report

    def without_report(self, record: RunRecord) -> str:
        """Why a graded run has to be graded again; empty if its grade.json is intact, or was never ours."""
        if record.imported_from:
            return ""
        try:
            _read_report(record.folder / "grade.json")
        except FileNotFoundError:
            return "its grade.json is gone"
        except GradingError as error:
            return error.message
        return ""

    def _report_there(self, record: RunRecord) -> Report | None:
        """A damaged one is kept under another name, for a person to look at."""
        path = record.folder / "grade.json"
        try:
            return _read_report(path)
        except FileNotFoundError:
            return None
        except GradingError:
            damaged = path.with_name("grade.damaged.json")
            files.remove(damaged)
            files.rename(path, damaged)
            return None

    def _publish_grade(self, record: RunRecord, path: Path) -> Report:
        submission, any_plugin = record.submission, self._experiment.with_installed
        data = self._same_data(record)
        report = self._experiment.grader.grade(submission, data, None if any_plugin else record.grader)
        self._same_data(record)  # nor were they replaced in the meantime
        where = submission.relative_to(record.folder).as_posix() if submission else ""
        report = evolve(report, run=record.uid, submission_path=where)
        if any_plugin and record.grader and report.plugin_source != record.grader.source:
            report = evolve(report, began_with=str(record.grader))
        if submission is None and (refused := collect.refused_candidates(record)):
            report = evolve(report, reason=refused)
        files.publish(path, (json.dumps(report.to_json(), indent=1, allow_nan=False) + "\n").encode())
        return report

    def _same_data(self, record: RunRecord) -> Prepared:
        """The data as they lie on disk now. Raises GradingError if they are missing, or not those of the run."""
        try:
            data = self._experiment.inputs_of(record.competition).reopen()
            require_same_data(record, data)
        except (NotPrepared, DataError) as error:
            raise GradingError(error.message, fix=error.fix) from error
        return data

    def answers_are_there(self, record: RunRecord) -> bool:
        return self._experiment.inputs[record.competition].data.private.is_dir()

    def close(self, record: RunRecord, state: Literal["cancelled", "failed"], reason: str) -> RunRecord:
        """Cancel or fail a run that is not at work."""
        files.make_folder(record.folder, below=self._group.folder)
        record = self._write(evolve(record, state=state, reason=reason))
        requests.remove(self._group.folder, record.name)
        return record

    def cancel_unbegun(self, names: Sequence[str]) -> None:
        """Cancel runs that have no record, in one write."""
        if self.closed:
            raise LockLost("the controller has left")
        require_group(self._group)
        with self._cancelling:
            add_cancelled(self._group.folder, names)
        self._journal.note("cancelled", None, runs=len(names), why=REASON)
        for name in requests.pending(self._group.folder).keys() & set(names):
            requests.remove(self._group.folder, name)

    def plan_again(self, record: RunRecord) -> RunRecord:
        """From failed, cancelled or graded back to planned, because a retry was requested."""
        files.make_folder(record.folder, below=self._group.folder)
        fresh = without_result(record) if record.state == "graded" else record
        fresh = evolve(fresh, state="planned", ended=None, reason="", retry_from=len(record.attempts))
        replaced = fresh.forced[-1] if fresh.forced != record.forced else None
        record = self._write(fresh, **({"replaces": f"{replaced.status} {replaced.score}"} if replaced else {}))
        set_aside(record)
        requests.remove(self._group.folder, record.name)
        return record

    def catch_up(self, record: RunRecord) -> None:
        """Deliver what another controller did to extensions."""
        self._extensions.catch_up(record, lambda: _read_report(record.folder / "grade.json"))


def _read_report(path: Path) -> Report:
    from mlecore.grading.report import read_report

    try:
        return read_report(path, below=path.parent.parent)
    except SchemaError as error:
        raise GradingError(error.message, fix="Resuming the group grades the run again.") from None


def _with_earlier_spending(job: Job, record: RunRecord) -> Job:
    """A budget is the run's: what earlier attempts spent of it is gone, but for those of a result that was replaced."""
    if job.resources.model is None:
        return job
    replaced = record.forced[-1].attempt if record.forced else 0
    earlier = [str(attempt.number) for attempt in record.attempts[:-1] if attempt.number > replaced]
    logs = [record.folder / "attempts" / number / "rest" / GATEWAY_LOG for number in earlier]
    model = evolve(job.resources.model, spent=spent_in(logs))
    return evolve(job, resources=evolve(job.resources, model=model))
