"""The record of a run: run.json as a value. It holds what is needed to compare the run with another."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from attrs import asdict, evolve, field, fields, frozen

from mlecore.agents import Network, Usage
from mlecore.backends import LIMITS, Enforcement, Handle, Sandbox
from mlecore.errors import DataError

State = Literal["planned", "starting", "running", "collecting", "collected", "graded", "cancelled", "failed"]
Ended = Literal["finished", "timed_out", "crashed", "oom", "stopped", "lost"]

FORMAT = 1
STATES: tuple[str, ...] = get_args(State)
ENDS: tuple[str, ...] = get_args(Ended)
SETTLED = ("graded", "cancelled", "failed")  # nothing goes on by itself from here


class RecordError(DataError):
    """A run.json that cannot be read as a record; the message says why."""


@frozen(kw_only=True)
class PluginUse:
    """A plugin as a run used it. ``source`` tells editable installs apart, which keep their version."""

    name: str
    version: str = ""
    distribution: str = ""
    source: str = ""  # SHA-256 of its package's files
    options: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Limits:
    """What a run was given; None: no limit but the backend's own."""

    time: float = 24 * 3600.0  # seconds
    cpus: float | None = None
    memory: int | None = None  # bytes
    gpus: int = 0
    disk: int | None = None  # bytes
    network: Network = "none"
    allow: tuple[str, ...] = ()


@frozen(kw_only=True)
class Attempt:
    """One job of a run. ``infra_failure``: it ended for the backend's reasons, and does not count against the agent."""

    number: int  # from 1
    job: str
    handle: Handle | None = None
    started_at: str | None = None
    ended_at: str | None = None
    seconds: float | None = None  # by a monotonic clock: init's, else the controller's
    exit_code: int | None = None
    ended: Ended | None = None
    reason: str = ""
    infra_failure: bool = False


@frozen(kw_only=True)
class Collected:
    """What came out of the sandbox, and what was refused."""

    files: int = 0
    bytes: int = 0
    refused: tuple[str, ...] = ()  # "path: why"
    complete: bool = True
    candidate: str | None = None  # which file was handed in, relative to the sandbox's home
    snapshots: int = 0


@frozen(kw_only=True)
class RunRecord:
    """One run. ``folder`` is where it lies now; everything else stands in its run.json."""

    uid: str
    name: str  # of its folder when it was planned
    group: str
    group_uid: str
    folder: Path = Path()
    competition: str
    edition: str = "v1"
    synthetic: bool = False
    agent: PluginUse
    label: str = ""  # of the agent in the plan, where one agent stands in it with several options
    backend: PluginUse
    seed: int = 0
    model: str | None = None
    endpoint: str | None = None
    limits: Limits = Limits()
    state: State = "planned"
    ended: Ended | None = None
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()
    retry_from: int = 0  # attempts up to this one no longer count against the retries: somebody asked for more
    created_at: str | None = None
    seconds: float | None = None  # time used by the attempt that counts
    sandbox: Sandbox | None = None  # how the backend keeps jobs apart and to their limits
    hardware: Mapping[str, Any] = field(factory=dict)  # as reported by the sandbox
    image_digest: str | None = None
    recipe_digest: str | None = None
    data_digest: str | None = None
    description_digest: str | None = None  # of description.md as the agent read it
    instructions_digest: str | None = None
    launch_digest: str | None = None  # of the files that the agent brought
    candidates: tuple[str, ...] = ()  # globs of the submission, best first
    grace: float = 10.0  # seconds between SIGTERM and SIGKILL
    plugins: tuple[PluginUse, ...] = ()  # the core's and the competition's
    usage: Usage | None = None  # as reported by the agent's logs
    checks: int = 0  # uses of the sandbox's validate, as reported by the sandbox
    gradings: int = 0
    collected: Collected | None = None
    extra: Mapping[str, Any] = field(factory=dict)  # what a newer version wrote; kept when rewritten

    @property
    def attempt(self) -> Attempt | None:
        """The last attempt, the one that counts."""
        return self.attempts[-1] if self.attempts else None

    @property
    def settled(self) -> bool:
        return self.state in SETTLED

    @property
    def submission(self) -> Path | None:
        """The file that was handed in, where there is one."""
        path = self.folder / "submission" / "submission.csv"
        return path if self.collected and self.collected.candidate and path.is_file() else None

    def with_attempt(self, **changes: Any) -> RunRecord:
        """The record with its last attempt changed."""
        return evolve(self, attempts=(*self.attempts[:-1], evolve(self.attempts[-1], **changes)))

    def to_json(self) -> dict[str, Any]:
        """As run.json has it; ``from_json`` is its inverse."""
        values = asdict(self, filter=lambda attribute, _: attribute.name not in ("folder", "extra"))
        return {"format": FORMAT, **values, **self.extra}

    def dumps(self) -> bytes:
        return (json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n").encode()

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
        known = _names(cls)
        values = {key: value for key, value in data.items() if key in known}
        extra = {}
        if len(values) + 1 < len(data):
            extra = {key: value for key, value in data.items() if key not in known and key != "format"}
        for key, kind in _SCALARS.items():
            if key in values and (not isinstance(values[key], kind) or (kind is int and values[key] is True)):
                raise RecordError(f"{key} is {values[key]!r}")
        if values.get("state", "planned") not in STATES:
            raise RecordError(f"unknown state {values['state']!r}")
        if values.get("ended") not in (None, *ENDS):
            raise RecordError(f"unknown end {values['ended']!r}")
        try:
            for key, value in values.items():
                if value is not None and (build := _NESTED.get(key)):
                    values[key] = build(value)
            return cls(**values, folder=folder, extra=extra)
        except (TypeError, AttributeError, ValueError, KeyError) as error:
            raise RecordError(str(error).replace("__init__() ", "")) from None


_known: dict[type, frozenset[str]] = {}


def _names(cls: type) -> frozenset[str]:
    if cls not in _known:
        _known[cls] = frozenset(attribute.name for attribute in fields(cls)) - {"folder", "extra"}
    return _known[cls]


def _value(cls: type, data: Mapping[str, Any], **changes: Any) -> Any:
    known = _names(cls)
    if data.keys() <= known and not changes:
        return cls(**data)
    return cls(**{key: value for key, value in data.items() if key in known} | changes)


def _attempt(data: Mapping[str, Any]) -> Attempt:
    handle = data.get("handle")
    attempt: Attempt = _value(Attempt, data, handle=_value(Handle, handle) if handle else None)
    if not isinstance(attempt.number, int) or not isinstance(attempt.job, str):
        raise RecordError("an attempt has no number or no job")
    return attempt


def _sandbox(data: Mapping[str, Any]) -> Sandbox:
    out: Sandbox = _value(Sandbox, data, **{name: _value(Enforcement, data[name]) for name in LIMITS})
    return out


_NESTED: Mapping[str, Callable[[Any], Any]] = {
    "agent": lambda data: _value(PluginUse, data),
    "backend": lambda data: _value(PluginUse, data),
    "limits": lambda data: _value(Limits, data, allow=tuple(data.get("allow", ()))),
    "sandbox": _sandbox,
    "attempts": lambda data: tuple(_attempt(item) for item in data),
    "candidates": lambda data: tuple(map(str, data)),
    "plugins": lambda data: tuple(_value(PluginUse, item) for item in data),
    "usage": lambda data: _value(Usage, data, models=tuple(data.get("models", ()))),
    "collected": lambda data: _value(Collected, data, refused=tuple(data.get("refused", ()))),
}
_SCALARS: Mapping[str, type] = {
    "uid": str,
    "name": str,
    "group": str,
    "group_uid": str,
    "competition": str,
    "edition": str,
    "synthetic": bool,
    "label": str,
    "seed": int,
    "reason": str,
    "attempts": list,
    "retry_from": int,
    "checks": int,
    "gradings": int,
}
