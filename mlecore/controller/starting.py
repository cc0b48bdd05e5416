"""Starting a run: its agent says what to start, and the backend starts that. Each step can be repeated."""

from __future__ import annotations

from attrs import evolve, mutable

from mlecore.controller import collect
from mlecore.controller.experiment import Experiment, Inputs, LoadedAgent
from mlecore.controller.extensions import Extensions
from mlecore.controller.job import JobDraft, make_job
from mlecore.controller.provisions import Provisions
from mlecore.controller.records import Records
from mlecore.controller.replacing import set_aside
from mlecore.controller.reporting import Reporter
from mlecore.errors import ImageGone, PluginError
from mlecore.model.agents import FinishedSubmission
from mlecore.model.backends import Image, Job, Sandbox
from mlecore.model.provenance import PluginUse
from mlecore.model.record import FINISHED, Attempt, RunRecord
from mlecore.runs.journal import now
from mlecore.runs.measured import spent_in
from mlecore.runs.secrets import remember
from mlecore.util import files
from mlecore_jobs.fetching import GATEWAY_LOG


@mutable(eq=False)
class Starting:
    """Takes runs from planned to waiting. All methods block; for any thread."""

    _records: Records
    _experiment: Experiment
    _extensions: Extensions
    _provisions: Provisions
    _reporter: Reporter
    _sandbox: Sandbox | None = None

    def begin(self, record: RunRecord) -> tuple[RunRecord, Job | None]:
        """From planned to starting, with the job to start; finished files go straight to collected, without a job."""
        agent = self._experiment.agent_of(record.label)
        inputs = self._experiment.inputs_of(record.competition)
        fresh = record.state == "planned"
        if fresh:
            set_aside(record)  # a controller may have died before it had done so
            number = self._next_attempt(record)
            attempt = Attempt(number=number, job=f"mle-{record.uid}-{number}")
            record = evolve(record, attempts=(*record.attempts, attempt), ended=None, reason="", seconds=None)
        assert record.attempt
        labels = {"competition": record.competition, "agent": record.agent.name, "run": record.name}
        draft = make_job(
            self._experiment,
            agent,
            inputs,
            record.seed,
            record.attempt.job,
            self._records.group.info.uid,
            self._records.group.folder / ".cache",
            labels,
        )
        if fresh:
            record = self._described(record, agent, inputs)
        if isinstance(draft, FinishedSubmission):
            return self._take_finished_submission(record, draft), None
        draft = evolve(draft, job=_with_earlier_spending(draft.job, record))
        image, data = self._provisions.image(record.label), self._provisions.data(record.competition)
        if fresh:
            record = self._starting(record, agent, draft, image)
        return record, evolve(draft.job, image=image, data=data)

    def launch(self, record: RunRecord, job: Job) -> RunRecord:
        """From starting to waiting. A job of this name that was started before is taken over."""
        remember(record.folder, record.secrets)
        try:
            handle = self._experiment.backend.start(job)
        except ImageGone:
            image = self._provisions.rebuild(record.label, job.image)
            record = evolve(record, image_digest=image.digest)
            handle = self._experiment.backend.start(evolve(job, image=image))
        record = evolve(record.with_attempt(handle=handle), state="waiting")
        self._records.write(record, attempt=record.attempts[-1].number, id=handle.id)
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
            task=None if record.obfuscation == "none" else inputs.shown.competition,
            description_digest=inputs.shown.description_digest,
        )

    def _grader(self, competition: str) -> PluginUse:
        """The competition's plugin that the group began with."""
        began = (use for use in self._records.group.info.plugins if use.name == competition)
        return next(began, self._experiment.inputs_of(competition).use)

    def _starting(self, record: RunRecord, agent: LoadedAgent, draft: JobDraft, image: Image) -> RunRecord:
        if self._sandbox is None:
            self._sandbox = self._experiment.backend.describe()
            self._warn_of_open_network(self._sandbox)
        files.make_folder(record.folder, below=self._records.group.folder)
        return self._records.write(
            evolve(
                record,
                state="starting",
                sandbox=self._sandbox,
                image_digest=image.digest,
                installed=image.installed,
                recipe_digest=agent.recipe.digest(),
                instructions_digest=draft.instructions_digest,
                launch_digest=draft.launch_digest,
                candidates=draft.launch.candidates,
                grace=draft.launch.grace,
                given_secrets=draft.job.resources.secrets,
                access=draft.job.resources.model,
            ),
            attempt=record.attempts[-1].number,
        )

    def _warn_of_open_network(self, sandbox: Sandbox) -> None:
        """Records tell it of each run; nobody should learn it from them only."""
        wanted = self._experiment.plan.limits.network
        if wanted != "open" and sandbox.network.level == "absent":
            why = f" ({sandbox.network.how})" if sandbox.network.how else ""
            words = f"warning: network={wanted} is not enforced here{why}: runs can reach other hosts"
            self._reporter.say(words, every=86400.0)

    def _take_finished_submission(self, record: RunRecord, submission: FinishedSubmission) -> RunRecord:
        files.make_folder(record.folder, below=self._records.group.folder)
        try:
            record = collect.take_finished_submission(record, submission)
        except (ValueError, FileNotFoundError) as error:
            raise PluginError(f"agent {record.agent.name}: its files cannot be copied: {error}") from None
        record = evolve(
            record.with_attempt(job=FINISHED, ended_at=now(), ended="finished"),
            state="collected",
            ended="finished",
        )
        self._records.write(record)
        self._extensions.finished(record)
        return record


def _with_earlier_spending(job: Job, record: RunRecord) -> Job:
    """A budget is the run's: what earlier attempts spent of it is gone, but for those of a result that was replaced."""
    if job.resources.model is None:
        return job
    replaced = record.forced[-1].attempt if record.forced else 0
    earlier = [str(attempt.number) for attempt in record.attempts[:-1] if attempt.number > replaced]
    logs = [record.folder / "attempts" / number / "rest" / GATEWAY_LOG for number in earlier]
    model = evolve(job.resources.model, spent=spent_in(logs))
    return evolve(job, resources=evolve(job.resources, model=model))
