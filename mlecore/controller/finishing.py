"""Ending an attempt: stopping its job, fetching and judging what it left, removing it. Each step can be repeated."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from attrs import evolve, frozen

from mlecore.controller import collect
from mlecore.controller.ending import End, availability, exit_code, infra_failures, judge_attempt, time_used
from mlecore.controller.experiment import Experiment, Missing
from mlecore.controller.extensions import Extensions
from mlecore.controller.records import Records
from mlecore.errors import BackendError, MlecoreError
from mlecore.model.agents import Usage
from mlecore.model.backends import Handle, Hardware, JobStatus
from mlecore.model.record import Availability, RunRecord
from mlecore.runs import requests
from mlecore.runs.journal import now
from mlecore.runs.measured import difference, measure
from mlecore.runs.outcome import read_outcome
from mlecore.runs.refused import relay_refusals
from mlecore.runs.snapshots import snapshots
from mlecore.runs.store import require_group
from mlecore.util import files
from mlecore_jobs.fetching import GATEWAY_LOG, RELAY_LOG


@frozen(eq=False)
class Finishing:
    """Takes runs from running to collected. All methods block; for any thread."""

    _records: Records
    _experiment: Experiment
    _extensions: Extensions

    def stop(self, record: RunRecord) -> RunRecord:
        """End the job; its output stays."""
        assert record.attempt and record.attempt.handle
        self._experiment.backend.stop(record.attempt.handle, record.grace)
        return record

    def finish(self, record: RunRecord, status: JobStatus, seconds: float, cancelled: bool) -> RunRecord:
        """From running, its job being at its end, to collected; or back to planned, or to cancelled or failed.

        ``seconds`` is for how long the controller saw it run.
        """
        assert record.attempt
        handle = record.attempt.handle
        if record.state == "waiting":  # it ran between two looks, if at all
            record = evolve(record, reason="")
            if status.seconds is not None:
                started = datetime.now(UTC) - timedelta(seconds=status.seconds)
                record = record.with_attempt(started_at=started.isoformat(timespec="seconds"))
        if record.state in ("waiting", "running"):
            record = record.with_attempt(ended_at=now(), exit_code=status.exit_code)
            record = self._records.write(evolve(record, state="collecting"))
        require_group(self._records.group)
        fetched = self._fetch(record, status)
        record, end = self._judge(record, status, seconds, cancelled, fetched)
        if cancelled:
            record = evolve(record, state="cancelled")
        elif end.infra_failure:
            record = self._after_infra_failure(record, end)
        else:
            record = evolve(self._with_usage(collect.lay_out(record)), state="collected")
            self._restore_names(record)
            reasons = filter(None, (record.reason, collect.why_no_submission(record)))
            record = evolve(record, reason="; ".join(reasons))
        self._records.write(record, ended=record.ended, reason=record.reason)
        if cancelled:
            requests.remove(self._records.group.folder, record.name)
        if record.state != "planned":
            self._extensions.finished(record)
        if handle:
            self._remove(handle)
        return record

    def _restore_names(self, record: RunRecord) -> None:
        """Give submissions the competition's own names, which is all that grading knows. Repeatable.

        The file as the agent wrote it stays in the attempt's folder. Raises Missing if the names are lost.
        """
        if record.obfuscation != "full":
            return
        shown = self._experiment.inputs_of(record.competition).shown
        submissions = [*filter(None, (record.submission, *(path for _, path in snapshots(record))))]
        try:
            shown.restore(submissions, record.task)
        except MlecoreError as error:
            raise Missing(str(error)) from None

    def _fetch(self, record: RunRecord, status: JobStatus) -> bool:
        """Fetch what the attempt left, unless that was done; False if its job is gone."""
        assert record.attempt
        folder, handle = collect.attempt_folder(record), record.attempt.handle
        if folder.is_dir():
            return True
        if status.phase == "gone" or not handle:
            files.remove(files.partial(folder))  # it will never be complete
            return False
        limit = self._experiment.submission_limit(record.competition)
        collect.fetch(self._experiment.backend, handle, record, limit, status.seconds)
        return True

    def _judge(
        self, record: RunRecord, status: JobStatus, seconds: float, cancelled: bool, fetched: bool
    ) -> tuple[RunRecord, End]:
        """How the attempt ended, and the record with it."""
        reported = collect.read_exit(record) if fetched else collect.Exit()
        used, doubt = time_used(record, status, reported, seconds)
        found = self._availability(record, used) if fetched else None
        retries = self._experiment.plan.execution.retries
        end = judge_attempt(record, status, cancelled=cancelled, fetched=fetched, found=found, retries=retries)
        reason = "; ".join(filter(None, (end.reason, doubt)))
        record = record.with_attempt(
            ended=end.ended,
            reason=reason,
            outcome=read_outcome(collect.collected_logs(record), below=record.folder) if fetched else None,
            infra_failure=end.infra_failure,
            preempted=end.infra_failure and status.preempted,
            in_doubt=end.in_doubt,
            seconds=used,
            exit_code=exit_code(status, reported),
            availability=found,
        )
        hardware = status.hardware or Hardware()
        checks = collect.read_checks(record) if fetched else record.checks
        record = evolve(record, ended=end.ended, reason=reason, seconds=used, hardware=hardware, checks=checks)
        record = evolve(record, sandbox=status.sandbox or record.sandbox)
        return record, end

    def _availability(self, record: RunRecord, used: float | None) -> Availability | None:
        if record.access is None:
            return None
        found = availability(collect.collected_logs(record) / GATEWAY_LOG.name, record.access)
        if found is None or used is None:
            return found
        at_end = min(found.failing_at_end, used)
        return evolve(found, failing_seconds=min(found.failing_seconds, used), failing_at_end=at_end)

    def _after_infra_failure(self, record: RunRecord, end: End) -> RunRecord:
        failures = infra_failures(record)
        if end.unconfirmed:
            return evolve(record, state="failed")
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
            self._records.journal.note("usage differs", record.name, why=words)
        return evolve(record, calls=calls, usage=calls.usage, reported_usage=reported, usage_difference=words)

    def _reported_usage(self, record: RunRecord) -> Usage | None:
        """As the agent's hook reports them; it reads hostile files, so a failure is only noted."""
        agent = self._experiment.agents.get(record.label)
        if agent is None or not agent.plugin.implements("usage"):
            return None
        try:
            usage: Usage | None = agent.plugin.call("usage", logs=record.folder / "logs")
        except Exception as error:
            self._records.journal.note("usage unknown", record.name, why=str(error))
            return None
        return usage

    def remove_job(self, handle: Handle) -> None:
        """End and remove a job, with its output."""
        self._experiment.backend.stop(handle, 0.0)
        self._remove(handle)

    def _remove(self, handle: Handle) -> None:
        """Remove the job; what cannot be removed now is found when the group is resumed."""
        try:
            self._experiment.backend.remove(handle)
        except BackendError as error:
            self._records.journal.note("not removed", job=handle.name, why=str(error))
