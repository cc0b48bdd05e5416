"""The whole contract between the core and a backend, which runs agents' processes.

A backend subclasses ``Backend``. It gets a ``Job`` and gives it the sandbox that ``Job`` describes, as far as it can;
``describe()`` and ``preflight()`` say what it cannot do. ``environment()`` and ``secret_values()`` of
``mlecore_sandboxes.variables`` make the job's variables, ``Glob`` in mlecore.util defines what a glob matches, and
``Receiver`` in mlecore_jobs keeps the rules of ``fetch()``: use them, so that an agent finds the same everywhere.
``mlecore_testing.check_backend`` tests the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal, Protocol

from attrs import field, frozen

from mlecore.errors import BackendError, redacted
from mlecore.model.agents import HOME, Network, Recipe
from mlecore.model.model_access import ModelAccess
from mlecore.model.options import Option
from mlecore_jobs.fetching import Fetched

TOOLS = PurePosixPath("/opt/mlecore")
"""Where a job's tools are if there is a mount namespace."""

GATEWAY_PORT = 3129
"""Where a job reaches its gateway, on a host that the backend chooses."""


@frozen(kw_only=True)
class Problem:
    """Something that keeps jobs from running, and what to do about it."""

    description: str = field(converter=redacted)
    fix: str = field(converter=redacted)
    fatal: bool = True  # False: a warning
    usage: bool = False  # the request can never be met here, so it is wrong usage


Level = Literal["enforced", "watched", "absent"]


@frozen(kw_only=True)
class Enforcement:
    """How strictly a backend enforces one limit.

    ``enforced``: nothing that the job does exceeds the limit. ``watched``: exceeding it is noticed after a while and
    ends the job, or the limit holds for a job that does not try to evade it. ``absent``: there is no limit.
    """

    level: Level  # see above
    how: str = ""  # how: "cgroup", "measured four times a second"


LIMITS = ("time", "cpus", "memory", "processes", "disk", "network")
"""The limits of which a Sandbox has an Enforcement."""


@frozen(kw_only=True)
class Sandbox:
    """How a backend's jobs are isolated. Goes into the record of each run."""

    isolation: str | None  # how: "bubblewrap 0.8.0", "container"; None: a job can read and change what we can
    user: str  # which user a job's processes have, in words
    time: Enforcement  # of the limit of time
    cpus: Enforcement  # of its CPUs
    memory: Enforcement  # of its memory
    processes: Enforcement  # of how many it may have
    disk: Enforcement  # of what it may write
    network: Enforcement  # of "none" and "llm"
    network_verified: bool = False  # a job without a network was tried on this machine, and had none
    details: Mapping[str, str] = field(factory=dict)  # other differences between backends of this kind: versions ...

    def limits(self) -> dict[str, Enforcement]:
        """Every limit's Enforcement, by name."""
        return {name: getattr(self, name) for name in LIMITS}


@frozen(kw_only=True)
class Dataset:
    """The public data of one competition on the controller's disk."""

    competition: str
    edition: str
    public: Path
    digest: str  # of the manifest: the same digest, the same files


@frozen(kw_only=True)
class Image:
    """The result of building a recipe."""

    ref: str  # what the backend starts: an image's name, an environment's folder
    digest: str  # of what is in it; goes into the record
    installed: tuple[str, ...] = ()  # interpreter, platform, packages with their versions, where the backend knows


@frozen(kw_only=True)
class CachedImage:
    """An image or environment that a backend built from a recipe and keeps for later runs."""

    ref: str  # as the backend knows it: an image's id, an environment's folder
    name: str  # for people
    size: int  # bytes that nothing else shares
    created: float  # seconds since 1970
    about: str = ""  # what is in it, in a few words
    owner: str = ""  # who built it; empty: it is not known
    ours: bool = True  # this user's installation of mlecore built it
    used: bool = False  # a job needs it now


@frozen(kw_only=True)
class Resources:
    """The resources that a job needs; known before there is an image or data."""

    cpus: float | None = None  # None: no limit but the backend's own
    memory: int | None = None  # bytes, no swap; beyond it the process with most memory is killed, and the job continues
    gpus: int = 0  # how many; the backend decides which. Two jobs never share one
    disk: int | None = None  # bytes that the job may write; None: what the backend finds room for
    parallel: int = 1  # jobs of its group that may run at once, as far as the plan says
    processes: int = 4096  # and threads, at once
    time_limit: float = 24 * 3600.0  # seconds; kept by init, and by the backend if an agent could interfere with init
    grace: float = 10.0  # seconds between SIGTERM and SIGKILL at the end of the time
    network: Network = "none"
    allow: tuple[str, ...] = ()  # under "llm": patterns of host[:port] that the relay lets through
    model: ModelAccess | None = None  # under "llm": what the gateway lets through, see mlecore/model/model_access.py
    writable_root: bool = False  # the job writes outside home and /tmp
    terminal: bool = False  # its standard streams are a terminal
    secrets: tuple[str, ...] = ()  # names of variables; their values are the controller's, see secret_values()


@frozen(kw_only=True)
class Job:
    """One attempt of one run.

    Its sandbox has, under ``home`` (see ``Backend.home``), ``data/`` (the dataset, read-only), ``submission/``,
    ``code/``, ``logs/`` (empty at first) and ``files``, all of which it may write except ``data/``; and ``tools``,
    read-only, in their own folder, ``/opt/mlecore`` where that is possible. /tmp is writable, too.

    The first process is ``/bin/sh TOOLS/init ARGV...`` in home, with ``environment()`` and ``secret_values()`` as its
    only variables beside PATH and what an image sets. It reads ``stdin``; what it and its children print, to either
    stream, is the job's output. It is not root if the backend can avoid it.

    ``init`` (mlecore_jobs/inside/init) keeps the time limit and writes to ``.mlecore/`` in home. It exits with the exit
    code of ARGV (see ``SUBSTITUTES``), 124 when the time was up, 125 for wrong arguments; SIGTERM,
    SIGINT and SIGHUP make it end ARGV.

    Files are given as bytes or as the path of a regular file. They are executable if they begin with ``#!`` or, as a
    path, are so already.
    """

    name: str  # "mle-<uid>-<attempt>": unique, drawn at random when the run was planned
    group: str  # uid of the group, for list_jobs()
    image: Image
    dataset: Dataset
    data: str  # what stage_data() returned for the dataset
    argv: tuple[str, ...]
    tools: Mapping[str, bytes | Path]  # file name -> content; "init" is among them
    files: Mapping[str, bytes | Path] = field(factory=dict)  # path relative to home, outside data/ -> content
    env: Mapping[str, str] = field(factory=dict)
    stdin: bytes = b""
    resources: Resources = Resources()
    labels: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class Handle:
    """A started job, so that another process can find it. Goes into run.json."""

    name: str  # the job's name
    id: str  # the backend's own


Phase = Literal["pending", "running", "exited", "gone"]

INIT_KILLED = 137
"""Exit code of an init that was ended by SIGKILL. It never exits so by itself, and nothing inside can send that signal
to the first process of a PID namespace: on a backend with such namespaces, it came from outside."""

LOST_SIGHT = 255
"""What container engines report of a container that they lost; init never exits so either."""

ARGV_KILLED = 247
SUBSTITUTES = {ARGV_KILLED: INIT_KILLED, 254: LOST_SIGHT}
"""What init exits with -> the exit code of ARGV that it stands for."""


@frozen(kw_only=True)
class Hardware:
    """The hardware of a job, measured outside its sandbox, because its agent can forge what the sandbox reports.

    Goes into the record; results on different CPUs and GPUs are not averaged.
    """

    cpus: float | None = None  # its limit, else all of its machine's
    cpu: str = ""  # model
    memory: int | None = None  # bytes; its limit, else all of its machine's
    gpus: tuple[str, ...] = ()  # model of each GPU that it was given
    kernel: str = ""  # system, release, architecture


@frozen(kw_only=True)
class JobStatus:
    """The state of a job. ``gone`` is certain: the backend answers, and has no such job.

    ``infra_failure``: it ended for reasons outside its sandbox, so a retry is fair: the engine or the machine stopped,
    in any order; something other than ``Backend.stop()`` asked the job to end, or killed its init or its supervisor;
    others filled the disk. This needs evidence from outside the sandbox: what a job could also cause or forge itself
    counts as the agent's doing. So a report of init that it was asked to end is no evidence: any process of the job
    can send it SIGTERM.

    ``in_doubt``: it is an infrastructure failure as far as can be told, but the job may have caused it. Such an attempt
    is retried once, and a second one counts against the agent.

    ``preempted``: an infrastructure failure, as the backend gave its place to another job; it does not count against
    the run's retries.

    ``pending``: the backend has the job, and it waits for something, as ``reason`` says; the time that it waits is not
    the agent's. ``stuck``: it waits for what does not come by itself (an image that does not exist, a right that is
    missing). A run that is stuck for some minutes fails with the reason.
    """

    phase: Phase
    exit_code: int | None = None  # of init; None: it is not known
    oom: bool = False  # it exceeded its memory limit and failed; not if it survived a killed child
    timed_out: bool = False  # the backend ended it: time limit and grace were over, and init had not
    infra_failure: bool = False
    in_doubt: bool = False
    preempted: bool = False
    stuck: bool = False
    reason: str = field(default="", converter=redacted)  # why it is pending, or ended so; for people
    seconds: float | None = None  # that an exited one ran, by the backend's clock; None: it kept no time
    hardware: Hardware | None = None  # of an exited one; None: it was not measured
    sandbox: Sandbox | None = None  # of an exited one, where only its machine knew it; None: as describe() said


GONE = JobStatus(phase="gone", reason="there is no such job")


@frozen(kw_only=True)
class Capacity:
    """The resources that a backend can give to concurrent jobs."""

    cpus: float
    memory: int  # bytes
    gpus: tuple[str, ...] = ()


class Progress(Protocol):
    """Called now and then with bytes done, bytes in total, and what is being done."""

    def __call__(self, done: int, total: int, what: str) -> None: ...


class Backend(ABC):
    """Where jobs run. Thread-safe. A job outlives the process that started it, and any other process finds it again.

    Making one contacts nothing. Every other method raises BackendUnreachable where the backend does not answer, which
    means ask again, and BackendError if something is wrong, with the fix.
    """

    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()

    @abstractmethod
    def describe(self) -> Sandbox:
        """How jobs are isolated, and how their limits are enforced."""

    @abstractmethod
    def preflight(self, requested: Sequence[Resources] = ()) -> list[Problem]:
        """Problems that prevent jobs from running here, or from getting the resources that they need.

        Unavailable resources are fatal (GPUs, more memory than the machine has); an unenforced limit is a warning.
        """

    @abstractmethod
    def stage_data(self, dataset: Dataset, progress: Progress) -> str:
        """Make public data available to jobs: idempotent, resumable, verified. Returns the value for ``Job.data``."""

    @abstractmethod
    def build(self, recipe: Recipe, log: Path) -> Image:
        """Build what a recipe asks for; idempotent by its digest. The build's output goes to ``log``."""

    @abstractmethod
    def start(self, job: Job) -> Handle:
        """Start a job; idempotent by ``job.name``: returns the handle of a job that was started before, by any process.

        Raises ImageGone if ``job.image`` was removed since it was built: it is built again.
        """

    @abstractmethod
    def list_jobs(self, group: str) -> dict[str, Handle]:
        """Handles of all jobs of a group, by job name, whichever process started them."""

    @abstractmethod
    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        """The status of each handle, in one request."""

    @abstractmethod
    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        """The job's output from byte ``offset`` on; with ``follow`` until it ends, reconnecting by itself."""

    @abstractmethod
    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        """Copy files of a running or exited job into the new folder ``into``, under their paths relative to home.

        The parent of ``into`` exists; do not make it: if it is missing, its disk is unmounted.

        ``globs`` are read by ``mlecore.util.globs.Glob``, whose ValueError is raised, and processed in order, so that
        matches of the first ones are stored first. Each file is stored once, files of ``data/`` never. Only regular
        files are: links, also as folders on the way, devices, FIFOs and sockets are rejected.

        A file that would exceed ``max_bytes`` in total, sparse or not, is rejected, and smaller ones after it are still
        stored; after ``max_files`` none is. ``Fetched`` says what was rejected. The names in ``OUTSIDE_LOGS`` are for
        what the job's relay and gateway wrote, if it has them, and never for a file of the agent.
        """

    @abstractmethod
    def stop(self, handle: Handle, grace: float) -> None:
        """End a job: SIGTERM, ``grace`` seconds, SIGKILL; its whole process tree. Idempotent; output stays."""

    @abstractmethod
    def remove(self, handle: Handle) -> None:
        """Remove the job and all its files; idempotent."""

    def cached_images(self) -> Sequence[CachedImage]:
        """What ``build()`` made and is still there, newest first: `mlecore images list` shows it."""
        return ()

    def prune(self, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
        """Remove these, except what a job uses by now, and what interrupted builds left.

        Returns those removed, and the bytes that are free again. A later run builds what it needs again.
        """
        return [], 0

    def push(self, image: CachedImage, registry: str) -> str:
        """Copy an image to a registry (HOST[/PROJECT]), for backends elsewhere; its reference there, by digest."""
        raise BackendError(
            f"{image.name} is not an image that can be pushed to a registry", fix="Name another --backend."
        )

    def capacity(self) -> Capacity | None:
        """The resources for concurrent jobs; None: the backend queues jobs itself."""
        return None

    def inventory(self) -> Sequence[str]:
        """The available machines, one per line, for people: `mlecore doctor` shows it."""
        return ()

    def gateway_url(self, job_name: str) -> str:
        """Where a job reaches its gateway, seen from inside: ``gateway`` is a name in its hosts file."""
        return f"http://gateway:{GATEWAY_PORT}"

    def reaches_as_here(self, endpoint: str) -> bool:
        """Does a job's gateway reach this URL if and only if this process does? False: nobody knows."""
        return False

    def home(self, job_name: str) -> PurePosixPath:
        """The path of a job's sandbox tree, seen from inside."""
        return HOME
