"""The record of a run: run.json as a value. It has everything that a comparison with other runs needs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from attrs import evolve, field, frozen

from mlecore.errors import DataError
from mlecore.model.agents import McpServer, Network, Outcome, Usage
from mlecore.model.backends import Handle, Hardware, Sandbox
from mlecore.model.calls import ModelCalls
from mlecore.model.data_kind import DataKind
from mlecore.model.model_access import ModelAccess
from mlecore.model.options import Variables
from mlecore.model.provenance import PluginUse
from mlecore.util.regular import open_regular
from mlecore.util.schema import NOT_IN_FILE, SchemaError, plain, structure_newer
from mlecore.util.units import Size, TimeLimit

if TYPE_CHECKING:
    from mlecore.model.report import Report

State = Literal["planned", "starting", "waiting", "running", "collecting", "collected", "graded", "cancelled", "failed"]
Ended = Literal["finished", "timed_out", "crashed", "oom", "stopped", "lost"]
Obfuscation = Literal["none", "description", "full"]

OBFUSCATED: Mapping[Obfuscation, str] = {
    "none": "",
    "description": "obfuscated description",
    "full": "obfuscated description and names",
}
"""Descriptions of what was hidden."""

FORMAT = 1
FINISHED = "finished_submission"  # stands for a job's name if an agent submitted finished files
STATES: tuple[str, ...] = get_args(State)
ENDS: tuple[str, ...] = get_args(Ended)
SETTLED = ("graded", "cancelled", "failed")  # final states
WITH_OUTPUT = ("collected", "graded")  # states in which the run's folder has the agent's output


class RecordError(DataError):
    """A run.json that cannot be read as a record; the message says why."""


def moment(text: str | None) -> datetime | None:
    """A time in a record; None if it is missing or not a time."""
    try:
        return datetime.fromisoformat(text or "").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@frozen(kw_only=True)
class Limits:
    """The limits of a run. Without a value, the backend's own applies."""

    time: TimeLimit = 24 * 3600.0  # of an attempt
    cpus: float | None = None  # that it may use
    memory: Size | None = None  # without swap
    gpus: int = 0  # how many; two runs never share one
    disk: Size | None = None  # what it may write
    network: Network = "none"  # nothing, a relay to the model and the allowed hosts, or everything
    allow: tuple[str, ...] = ()  # host[:port] patterns that the relay lets through
    secrets: Variables = ()  # variables of the controller that the agent is given, keys among them
    mcp: Mapping[str, McpServer] = field(factory=dict)  # MCP servers that the agent may use, by name


@frozen(kw_only=True)
class Availability:
    """Results of an attempt's model calls, by its gateway's log."""

    tried: int = 0  # calls that were passed on to the endpoint
    answered: int = 0  # of these
    failed: int = 0  # through the endpoint's fault, as the gateway confirmed by a call of its own
    rejected: int = 0  # through the fault of the request
    failing_seconds: float = 0.0  # during which the agent tried and the endpoint failed
    failing_at_end: float = 0.0  # of these, up to the last call
    failed_last: bool = False  # the endpoint failed in the last call
    last_error: str = ""  # of the endpoint


@frozen(kw_only=True)
class Attempt:
    """One job of a run."""

    number: int  # from 1
    job: str  # its name
    handle: Handle | None = None  # under which the backend knows it
    started_at: str | None = None  # ISO 8601, UTC; null while the backend has it wait
    ended_at: str | None = None  # ISO 8601, UTC
    seconds: float | None = None  # by a monotonic clock: init's where the backend's agrees with it, else the backend's
    exit_code: int | None = None  # of the agent's process
    ended: Ended | None = None  # how it ended
    reason: str = ""  # the same in words
    outcome: Outcome | None = None  # how it ended, as reported by the agent
    infra_failure: bool = False  # the backend or the model's endpoint failed: it does not count against the agent
    preempted: bool = False  # its place was given to another job, which uses up no retry
    in_doubt: bool = False  # the agent may have caused an infrastructure failure: retried once, then it counts
    availability: Availability | None = None  # of its model, if it had a gateway


@frozen(kw_only=True)
class Replaced:
    """A result that `mlecore runs retry --force` replaced."""

    attempt: int  # the number of the attempt that had it
    at: str  # when it was replaced: ISO 8601, UTC
    ended: Ended | None = None  # how the agent's process had ended
    status: str = ""  # of its grade.json: graded, invalid, none
    score: str = ""  # every digit; empty if it had none
    kept: str = ""  # the folder with all of it, relative to the run's


@frozen(kw_only=True)
class Collected:
    """The files that were collected from the sandbox, and those that were rejected."""

    files: int = 0  # how many
    bytes: int = 0  # in all
    refused: tuple[str, ...] = ()  # "path: why"
    complete: bool = True  # false: a limit cut it
    candidate: str | None = None  # which file was submitted, relative to the sandbox's home
    snapshots: int = 0  # copies of the submission over time
    code_snapshots: int = 0  # of these, the ones with the code as it was then
    # "path: name": files with the value of a variable that the run or its gateway was given. It was masked, but in
    # submissions, which are never changed
    secrets: tuple[str, ...] = ()
    unsearched: tuple[str, ...] = ()  # variables whose values nobody knew when the files were searched for them


@frozen(kw_only=True)
class Digests:
    """SHA-256 digests of a run's files (runs/digests.py)."""

    record: str = ""  # of this run.json, with "" in the place of this one
    previous: str | None = None  # of the run.json before it
    submission: str | None = None  # of submission/submission.csv as it was collected
    grade: str | None = None  # of grade.json as it was published
    output: Mapping[str, str] = field(factory=dict)  # of code/, logs/ and snapshots as they were collected, by folder
    findings: Mapping[str, str] = field(factory=dict)  # of findings/, by detector


@frozen(kw_only=True)
class RunRecord:
    """One run. ``folder`` is its current folder; everything else is in its run.json."""

    folder: Path = field(default=Path(), metadata=NOT_IN_FILE)
    format: int = FORMAT  # of this file
    uid: str  # random; names the run's jobs, as mle-<uid>-<attempt>
    name: str  # of its folder when it was planned
    group: str  # name of the group
    group_uid: str  # random
    competition: str  # id
    data_kind: DataKind | None = None  # that it worked on; null until it begins, unless the plan says synthetic
    agent: PluginUse  # with the options it was given
    label: str = ""  # of the agent in the plan, where one agent stands in it with several options
    seed: int = 0  # given to the agent
    state: State = "planned"  # how far it is
    ended: Ended | None = None  # how the agent's process ended, once it has run
    reason: str = ""  # the same in words; of a waiting run, why it waits
    attempts: tuple[Attempt, ...] = ()  # the jobs of the run; the last one counts
    seconds: float | None = None  # time used by the attempt that counts
    digests: Digests | None = field(default=None, eq=False)  # that tell whether the run was changed afterwards
    altered: bool = field(default=False, eq=False, metadata=NOT_IN_FILE)  # was read from a run.json that was changed
    edition: str = "v1"  # of the competition
    obfuscation: Obfuscation = "none"  # what was hidden from the agent: which competition it works on
    task: str | None = None  # its random name for the agent, if that was hidden: which obfuscated data the agent had
    backend: PluginUse  # with the options it was given
    model: str | None = None  # that the agent was to work with
    endpoint: str | None = None  # URL of the model
    limits: Limits = Limits()  # what the run was given
    retry_from: int = 0  # attempts up to this one no longer count against the retries: somebody asked for more
    forced: tuple[Replaced, ...] = ()  # results that were replaced by hand, in their order
    created_at: str | None = None  # ISO 8601, UTC
    imported_from: str | None = None  # the benchmark whose record this is, where mlecore did not make the run
    sandbox: Sandbox | None = None  # how the backend keeps jobs apart and to their limits
    hardware: Hardware = field(factory=Hardware)  # measured outside the sandbox
    image_digest: str | None = None  # of what the recipe became at the backend
    installed: tuple[str, ...] = ()  # interpreter, platform and packages with their versions, as the recipe resolved
    recipe_digest: str | None = None  # SHA-256 of what the agent asks to have installed
    data_digest: str | None = None  # SHA-256 of the public data's manifest
    answers_digest: str | None = None  # SHA-256 of the manifest of the answers and what else grades it
    description_digest: str | None = None  # SHA-256 of the agent's description.md, before its names were replaced
    instructions_digest: str | None = None  # SHA-256 of instructions.txt
    launch_digest: str | None = None  # SHA-256 of the files that the agent's launch adds
    candidates: tuple[str, ...] = ()  # globs of the submission, best first
    grace: float = 10.0  # seconds between SIGTERM and SIGKILL
    plugins: tuple[PluginUse, ...] = ()  # the core's, and the competition's when the group began: it grades the run
    given_secrets: tuple[str, ...] = ()  # variables that the agent was given: those of the limits, and its own
    access: ModelAccess | None = None  # what its gateway let through
    calls: ModelCalls | None = None  # what its gateway counted
    usage: Usage | None = None  # of its models: as its gateway measured it, else as the agent's logs report it
    reported_usage: Usage | None = None  # as the agent's logs report it
    relay_refused: Mapping[str, int] = field(factory=dict)  # connections that its relay rejected, by host:port
    usage_difference: str = ""  # between the two, where it is more than 5 %
    checks: int = 0  # uses of the sandbox's validate, as reported by the sandbox
    gradings: int = 0  # of the submission
    collected: Collected | None = None  # what came out of the sandbox
    extra: Mapping[str, Any] = field(factory=dict, metadata=NOT_IN_FILE)  # what a newer version wrote; kept

    @property
    def attempt(self) -> Attempt | None:
        """The last attempt, the one that counts."""
        return self.attempts[-1] if self.attempts else None

    @property
    def outcome(self) -> Outcome | None:
        """The agent's own account of how it ended, or None."""
        return self.attempt.outcome if self.attempt and self.ended else None

    def elapsed(self, now: datetime) -> float | None:
        """Seconds that the last attempt took, or has taken so far by the wall clock; None: it has not begun."""
        started = moment(self.attempt.started_at) if self.attempt else None
        if self.seconds is not None or self.attempt is None or started is None:
            return self.seconds
        return max(0.0, ((moment(self.attempt.ended_at) or now) - started).total_seconds())

    @property
    def settled(self) -> bool:
        return self.state in SETTLED

    @property
    def own_jobs(self) -> bool:
        """Do all attempts have jobs whose names follow from the run's uid?"""
        return all(
            attempt.job in (f"mle-{self.uid}-{attempt.number}", FINISHED)
            and (attempt.handle is None or attempt.handle.name == attempt.job)
            for attempt in self.attempts
        )

    @property
    def network(self) -> str:
        """The run's network in words: none, open, or the hosts that its relay let through."""
        if self.limits.network != "llm":
            return self.limits.network
        model = [f"the model at {self.endpoint}"] if self.endpoint else []
        return f"llm ({', '.join([*model, *self.limits.allow])})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Variables whose values the run or its gateway got."""
        return tuple(filter(None, (*self.given_secrets, self.access.key if self.access else None)))

    @property
    def synthetic(self) -> bool:
        return self.data_kind == "synthetic"

    @property
    def grader(self) -> PluginUse | None:
        """The competition's plugin that the group started with; None if it was not recorded."""
        return next((use for use in self.plugins if use.name == self.competition), None)

    @property
    def report(self) -> Report | None:
        """The report in grade.json; None if the run is not graded, or the file cannot be read."""
        from mlecore.model.report import read_report

        if self.state not in ("graded", "collected"):
            return None
        try:
            return read_report(self.folder / "grade.json", below=self.folder.parent)
        except (OSError, SchemaError):
            return None

    @property
    def submission(self) -> Path | None:
        """The submitted file, if there is one."""
        path = self.folder / "submission" / "submission.csv"
        if not (self.collected and self.collected.candidate):
            return None
        try:
            os.close(open_regular(path, below=self.folder.parent))
        except (DataError, OSError):
            return None
        return path

    def with_attempt(self, **changes: Any) -> RunRecord:
        """The record with its last attempt changed."""
        return evolve(self, attempts=(*self.attempts[:-1], evolve(self.attempts[-1], **changes)))

    def to_json(self) -> dict[str, Any]:
        """The values of run.json; ``from_json`` is its inverse."""
        return plain(self)

    def dumps(self) -> bytes:
        """The bytes of run.json. Lone surrogates, which an agent may have written, are escaped."""
        return (json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")

    @classmethod
    def from_json(cls, data: object, folder: Path) -> RunRecord:
        """Raises RecordError; unknown keys of a newer version are kept."""
        if not isinstance(data, dict):
            raise RecordError("it is not a JSON object")
        version = data.get("format")
        if not isinstance(version, int) or version < 1:
            raise RecordError("it has no format number")
        if version > FORMAT:
            raise RecordError(f"it was written by a newer mlecore (format {version})", fix="Update mlecore.")
        try:
            return evolve(structure_newer(cls, data), folder=folder)
        except SchemaError as error:
            raise RecordError(error.message) from None
