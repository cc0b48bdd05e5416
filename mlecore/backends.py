"""The interface of a place where an agent's process runs, and the values that cross it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal, Protocol

from attrs import field, frozen

from mlecore.agents import HOME, Network, Recipe
from mlecore.options import Option


@frozen(kw_only=True)
class Problem:
    """Something that stands in the way, and what to do about it."""

    what: str
    fix: str
    fatal: bool = True  # False: a warning


@frozen(kw_only=True)
class Dataset:
    """The public data of one competition on the controller's disk."""

    competition: str
    edition: str
    public: Path
    digest: str  # of the manifest: the same digest, the same files


@frozen(kw_only=True)
class Image:
    """What a recipe became at one place."""

    ref: str  # what the backend starts: an image's name, an environment's folder
    digest: str  # goes into the record


@frozen(kw_only=True)
class Job:
    """One attempt of one run, as a backend gets it.

    In the sandbox stand, under ``home``: ``data/`` (read-only, the dataset), ``submission/``, ``code/``, ``logs/``
    (writable, empty at first), ``files`` (writable), and under ``/opt/mlecore`` (``opt``, read-only) ``tools``.
    The first process is ``/bin/sh /opt/mlecore/init ARGV...``, with ``env``, the variables that init reads (see
    ``mlecore/sandbox/init``) and the values of ``secrets`` in its environment.
    """

    name: str  # "mle-<uid>-<attempt>": unique, drawn at random when the run was planned
    group: str  # uid of the group, for find()
    image: Image
    dataset: Dataset
    data: str  # what provide() returned for the dataset
    argv: tuple[str, ...]
    tools: Mapping[str, bytes | Path]  # file name in /opt/mlecore -> content; init is among them
    files: Mapping[str, bytes | Path] = field(factory=dict)  # path relative to home -> content
    env: Mapping[str, str] = field(factory=dict)
    stdin: bytes = b""
    terminal: bool = False
    secrets: tuple[str, ...] = ()  # names; the values come from the controller's environment, and are never logged
    cpus: float | None = None  # None: no limit but the place's own
    memory: int | None = None  # bytes, no swap
    gpus: int = 0  # how many; which, the backend decides
    disk: int | None = None  # bytes that the run may write
    processes: int = 4096
    time_limit: float = 24 * 3600.0  # seconds, kept by init
    grace: float = 10.0  # seconds, kept by init
    network: Network = "none"
    allow: tuple[str, ...] = ()  # host[:port] patterns that the relay lets through under "llm"
    writable_root: bool = False
    labels: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Handle:
    """A started job: enough to find it again from another process. Goes into run.json."""

    name: str  # the job's name
    id: str  # the backend's own


Phase = Literal["pending", "running", "exited", "gone"]


@frozen(kw_only=True)
class JobStatus:
    """What a place knows about a job. ``gone`` is positive knowledge: the place answers, and has no such job.

    ``infra_failure``: it ended for the place's reasons (killed engine, evicted pod, reboot), so a retry is fair.
    """

    phase: Phase
    exit_code: int | None = None
    oom: bool = False
    infra_failure: bool = False
    reason: str = ""


@frozen(kw_only=True)
class Capacity:
    """What this place can give out at once."""

    cpus: float
    memory: int  # bytes
    gpus: tuple[str, ...] = ()


@frozen(kw_only=True)
class Fetched:
    """What fetch() brought and what it refused."""

    files: int
    bytes: int
    refused: tuple[str, ...] = ()  # "path: why", a bounded number
    complete: bool = True  # False: the limit cut it


class Progress(Protocol):
    """Called now and then with bytes done of bytes in all, and what is being done."""

    def __call__(self, done: int, total: int, what: str) -> None: ...


class Backend(ABC):
    """A place. Thread-safe. BackendUnreachable means ask again; BackendError means wrong, with the fix."""

    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()

    @abstractmethod
    def preflight(self, jobs: Sequence[Job] = ()) -> list[Problem]:
        """What stands in the way of running here at all, and of giving ``jobs``, their image unset, what they ask."""

    @abstractmethod
    def provide(self, dataset: Dataset, progress: Progress) -> str:
        """Bring public data within reach: idempotent, resumable, verified. Returns what Job.data wants."""

    @abstractmethod
    def build(self, recipe: Recipe, log: Path) -> Image:
        """Make what a recipe asks for; idempotent by its digest. The build's output goes to ``log``."""

    @abstractmethod
    def start(self, job: Job) -> Handle:
        """Start a job; idempotent by ``job.name``: started already, by whomever, gives that one's handle."""

    @abstractmethod
    def find(self, group: str) -> dict[str, Handle]:
        """Handles of all jobs of a group that this place has, by job name, whoever started them."""

    @abstractmethod
    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        """Of each handle, in one request."""

    @abstractmethod
    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        """The process's output from byte ``offset`` on; with ``follow`` until it ends, reconnecting by itself."""

    @abstractmethod
    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, limit: int) -> Fetched:
        """Stream files of a running or exited job into a new folder, keeping paths relative to home.

        ``globs`` are relative to home; a name matched that is a directory brings what is below it. Regular files
        only (links, devices, FIFOs, sockets are refused and said so), at most ``limit`` bytes in all, sparse or not.
        """

    @abstractmethod
    def stop(self, handle: Handle, grace: float) -> None:
        """End a job: SIGTERM, ``grace`` seconds, SIGKILL; its whole process tree. Idempotent; output stays."""

    @abstractmethod
    def remove(self, handle: Handle) -> None:
        """Leave nothing behind; idempotent."""

    def capacity(self) -> Capacity | None:
        """What can run here at once; None: the place schedules by itself."""
        return None

    def home(self, job_name: str) -> PurePosixPath:
        """Where the sandbox tree of a job stands, seen from inside."""
        return HOME

    def describe(self) -> Mapping[str, object]:
        """Facts for the record: how the sandbox is enforced here (isolation, limits, engine version ...)."""
        return {}
