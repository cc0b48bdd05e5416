"""The contract between the core and a backend, which runs agents' processes: all of it stands in this file.

A backend subclasses ``Backend``. It gets a ``Job``, and gives it the sandbox that ``Job`` describes, as well as it can;
what it cannot do it says in ``describe()`` and ``preflight()``. ``environment()`` and ``secret_values()`` make the
job's variables, ``mlecore.globs.Glob`` says what a glob matches, and ``mlecore.fetching.Receiver`` keeps the rules of
``fetch()``: use them, so that an agent finds the same everywhere. ``mlecore.testing.check_backend`` tests the rest.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal, Protocol
from urllib.parse import urlsplit

from attrs import field, frozen

from mlecore.agents import HOME, Network, Recipe
from mlecore.errors import BackendError
from mlecore.model_access import ModelAccess, variables
from mlecore.options import Option

TOOLS = PurePosixPath("/opt/mlecore")
"""Where a job's tools stand wherever there is a mount namespace."""

_TMP = PurePosixPath("/tmp")

RELAY_LOG = PurePosixPath("logs/relay.jsonl")
GATEWAY_LOG = PurePosixPath("logs/gateway.jsonl")
TRANSCRIPTS = PurePosixPath("logs/transcripts.jsonl.zst")
OUTSIDE_LOGS = (GATEWAY_LOG, TRANSCRIPTS, RELAY_LOG)
"""Names, relative to home, under which ``fetch()`` stores what a job's relay and gateway wrote outside of it."""

GATEWAY_PORT = 3129
"""Where a job reaches its gateway, on a host that the backend chooses."""


@frozen(kw_only=True)
class Problem:
    """Something that stands in the way, and what to do about it."""

    what: str
    fix: str
    fatal: bool = True  # False: a warning


Level = Literal["enforced", "watched", "absent"]


@frozen(kw_only=True)
class Enforcement:
    """How far a backend holds a job to one limit.

    ``enforced``: nothing that the job does gets it past the limit. ``watched``: passing it is noticed after a while and
    ends the job, or the limit holds for a job that does not work against it. ``absent``: nobody keeps it.
    """

    level: Level  # see above
    how: str = ""  # by what means: "cgroup", "looked at four times a second"


LIMITS = ("time", "cpus", "memory", "processes", "disk", "network")
"""What a Sandbox has an Enforcement of."""


@frozen(kw_only=True)
class Sandbox:
    """What keeps a backend's jobs apart from everything else. Goes into the record of each run."""

    isolation: str | None  # by what means: "bubblewrap 0.8.0", "container"; None: a job can read and change what we can
    user: str  # who a job's processes are, in words
    time: Enforcement  # of the limit of time
    cpus: Enforcement  # of its CPUs
    memory: Enforcement  # of its memory
    processes: Enforcement  # of how many it may have
    disk: Enforcement  # of what it may write
    network: Enforcement  # of "none" and "llm"
    network_verified: bool = False  # a job without a network was started on this machine, and had none
    details: Mapping[str, str] = field(factory=dict)  # whatever else tells backends of this kind apart: versions ...

    def limits(self) -> dict[str, Enforcement]:
        """All that has an Enforcement, by name."""
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
    """What a backend made of a recipe."""

    ref: str  # what the backend starts: an image's name, an environment's folder
    digest: str  # of what is in it; goes into the record
    installed: tuple[str, ...] = ()  # interpreter, platform, packages with their versions, where the backend knows


@frozen(kw_only=True)
class Demand:
    """What a job asks of a backend: known before there is an image or data."""

    cpus: float | None = None  # None: no limit but the backend's own
    memory: int | None = None  # bytes, no swap; beyond it the process with most memory is killed, and the job goes on
    gpus: int = 0  # how many; which, the backend decides. Two jobs never share one
    disk: int | None = None  # bytes that the job may write
    processes: int = 4096  # and threads, at once
    time_limit: float = 24 * 3600.0  # seconds; kept by init, and by the backend where an agent could hinder init
    grace: float = 10.0  # seconds between SIGTERM and SIGKILL at the end of the time
    network: Network = "none"
    allow: tuple[str, ...] = ()  # under "llm": patterns of host[:port] that the relay lets through
    model: ModelAccess | None = None  # under "llm": what the gateway lets through, see mlecore/model_access.py
    writable_root: bool = False  # the job writes outside of home and /tmp
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
    stream, is the job's output. It is never root where the backend can help it.

    ``init`` (mlecore/sandbox/init) keeps the time limit and writes to ``.mlecore/`` in home. It exits with the exit
    code of ARGV (see ``SUBSTITUTES``), 124 when the time was up, 125 when it was called wrongly; SIGTERM,
    SIGINT and SIGHUP make it end ARGV.

    Files are given as bytes or as the path of a regular file. They are executable if they begin with ``#!`` or, as a
    path, are so already.
    """

    name: str  # "mle-<uid>-<attempt>": unique, drawn at random when the run was planned
    group: str  # uid of the group, for find()
    image: Image
    dataset: Dataset
    data: str  # what provide() returned for the dataset
    argv: tuple[str, ...]
    tools: Mapping[str, bytes | Path]  # file name -> content; "init" is among them
    files: Mapping[str, bytes | Path] = field(factory=dict)  # path relative to home, outside data/ -> content
    env: Mapping[str, str] = field(factory=dict)
    stdin: bytes = b""
    demand: Demand = Demand()
    labels: Mapping[str, str] = field(factory=dict)


def environment(
    job: Job,
    *,
    home: PurePosixPath = HOME,
    tools: PurePosixPath = TOOLS,
    user: str = "agent",
    user_home: PurePosixPath | None = None,
    tmp: PurePosixPath = _TMP,
    gpus: Sequence[str] | None = None,
    proxy: str | None = None,
    gateway: str | None = None,
) -> dict[str, str]:
    """All variables of a job's first process but PATH, what an image sets, and secrets. The same on every backend.

    ``home``, ``tools`` and ``tmp`` are what the job sees; ``user_home`` is its HOME where that is another folder than
    ``home``. ``gpus`` are the ids of its GPUs as it sees them; None: its own only, counted from 0. ``proxy`` is the
    relay's URL under ``llm``, and ``gateway`` that of the gateway for a job with ``demand.model``.
    """
    demand = job.demand
    model = gateway if demand.model else None
    seen = [str(number) for number in range(demand.gpus)] if gpus is None else gpus
    env = {
        "HOME": str(user_home or home),
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "TMPDIR": str(tmp),
        "CUDA_VISIBLE_DEVICES": ",".join(seen),
        **(_proxy_variables(proxy, demand.allow, model) if proxy else {}),
        **(variables(demand.model, job.name, model) if model and demand.model else {}),
        **job.env,
        "MLECORE_HOME": str(home),
        "MLECORE_OPT": str(tools),
        "MLECORE_TIME_LIMIT": f"{demand.time_limit:.2f}",
        "MLECORE_GRACE": f"{demand.grace:.2f}",
    }
    if demand.cpus is not None:
        env["MLECORE_CPUS"] = f"{demand.cpus:g}"
    if demand.memory is not None:
        env["MLECORE_MEMORY"] = str(demand.memory)
    return env


def _proxy_variables(proxy: str, allow: Sequence[str], gateway: str | None) -> dict[str, str]:
    """The job's own addresses go around the relay, unless one is to be reached outside; the gateway's always does."""
    from mlecore.relay import split_port

    models = {split_port(pattern)[0].lower() for pattern in allow}
    own = {name: None for name in ("localhost", "127.0.0.1", "::1") if name not in models}
    around = ",".join(own | ({urlsplit(gateway).hostname or "": None} if gateway else {}))
    return {
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), proxy),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), around),
        "NODE_USE_ENV_PROXY": "1",  # else Node.js takes no notice of the others
    }


def secret_values(job: Job) -> dict[str, str]:
    """The secrets that a job asks for, from the environment of this process. They go to the job's environment only.

    Never into a log, a record, an image, a command line, or what the backend stores about the job. Raises BackendError.
    """
    for name in job.demand.secrets:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise BackendError(f"the secret {name!r} cannot be the name of a variable")
        if name not in os.environ:
            raise BackendError(f"{job.name} needs {name}, which is not set here", fix=f"export {name}=...")
    return {name: os.environ[name] for name in job.demand.secrets}


@frozen(kw_only=True)
class Handle:
    """A started job: enough to find it again from another process. Goes into run.json."""

    name: str  # the job's name
    id: str  # the backend's own


Phase = Literal["pending", "running", "exited", "gone"]

INIT_KILLED = 137
"""Exit code of an init that was ended by SIGKILL. It never exits so by itself, and as the first process of a PID
namespace nothing inside can send it that signal: where a backend has such namespaces, somebody outside did."""

LOST_SIGHT = 255
"""What container engines report of a container that vanished from their sight; init never exits so, either."""

ARGV_KILLED = 247
SUBSTITUTES = {ARGV_KILLED: INIT_KILLED, 254: LOST_SIGHT}
"""What init exits with -> the exit code of ARGV that it stands for."""


@frozen(kw_only=True)
class JobStatus:
    """What a backend knows about a job. ``gone`` is positive knowledge: the backend answers, and has no such job.

    ``infra_failure``: it ended for reasons that lie outside of its sandbox, so a retry is fair: the engine or the
    machine stopped, in whatever order; somebody other than ``Backend.stop()`` asked the job to end, or killed its init
    or what holds it; others filled the disk. It needs evidence from outside the sandbox: what a job could also bring
    about itself, or forge, is the agent's doing. So init's word that it was asked to end is none: any process of the
    job can send it SIGTERM.
    """

    phase: Phase
    exit_code: int | None = None  # of init; None: it is not known
    oom: bool = False  # it passed its memory limit and failed; a job that survived a killed child is not oom
    timed_out: bool = False  # the backend ended it: its time limit and grace were over, and init had not ended it
    infra_failure: bool = False
    reason: str = ""  # why it is pending, or ended so; for people
    seconds: float | None = None  # that an exited one ran, by the backend's clock; None: it kept no time


@frozen(kw_only=True)
class Capacity:
    """What a backend can give out at once."""

    cpus: float
    memory: int  # bytes
    gpus: tuple[str, ...] = ()


@frozen(kw_only=True)
class Fetched:
    """What fetch() stored and what it refused."""

    files: int
    bytes: int
    refused: tuple[str, ...] = ()  # "path: why", safe to print, a bounded number
    complete: bool = True  # False: a limit kept something out


class Progress(Protocol):
    """Called now and then with bytes done of bytes in all, and what is being done."""

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
        """How jobs are kept apart and held to their limits here."""

    @abstractmethod
    def preflight(self, demands: Sequence[Demand] = ()) -> list[Problem]:
        """What stands in the way of running here at all, and of giving jobs what they demand.

        What cannot be given is fatal (GPUs, more memory than there is); a limit that is not enforced, a warning.
        """

    @abstractmethod
    def provide(self, dataset: Dataset, progress: Progress) -> str:
        """Bring public data within reach: idempotent, resumable, verified. Returns what Job.data wants."""

    @abstractmethod
    def build(self, recipe: Recipe, log: Path) -> Image:
        """Make what a recipe asks for; idempotent by its digest. The build's output goes to ``log``."""

    @abstractmethod
    def start(self, job: Job) -> Handle:
        """Start a job; idempotent by ``job.name``: started already, by whomever, gives that one's handle.

        Raises ImageGone if ``job.image`` was removed since it was built: it is built again.
        """

    @abstractmethod
    def find(self, group: str) -> dict[str, Handle]:
        """Handles of all jobs of a group that are here, by job name, whoever started them."""

    @abstractmethod
    def status(self, handles: Sequence[Handle]) -> dict[Handle, JobStatus]:
        """Of each handle, in one request."""

    @abstractmethod
    def logs(self, handle: Handle, offset: int = 0, follow: bool = False) -> Iterator[bytes]:
        """The job's output from byte ``offset`` on; with ``follow`` until it ends, reconnecting by itself."""

    @abstractmethod
    def fetch(self, handle: Handle, globs: Sequence[str], into: Path, max_bytes: int, max_files: int) -> Fetched:
        """Bring files of a running or exited job into the new folder ``into``, under their paths relative to home.

        The parent of ``into`` is there, and must not be made: where it is not, its disk is away for a while.

        ``globs`` are read by ``mlecore.globs.Glob``, whose ValueError is raised, and served in their order, so that
        what the first ones match comes first. Each file comes once. Nothing comes of ``data/``. Only regular files
        come: links, also as folders on the way, devices, FIFOs and sockets are refused.

        A file that would exceed ``max_bytes`` in all, sparse or not, is refused, and smaller ones after it still come;
        after ``max_files`` none comes. All that is refused is told in ``Fetched``. Under the names in ``OUTSIDE_LOGS``
        comes what the job's relay and gateway wrote, if it has them, and never a file of the agent's.
        """

    @abstractmethod
    def stop(self, handle: Handle, grace: float) -> None:
        """End a job: SIGTERM, ``grace`` seconds, SIGKILL; its whole process tree. Idempotent; output stays."""

    @abstractmethod
    def remove(self, handle: Handle) -> None:
        """Leave nothing behind; idempotent."""

    def capacity(self) -> Capacity | None:
        """What can run here at once; None: jobs wait for room by themselves."""
        return None

    def gateway_url(self, job_name: str) -> str:
        """Where a job reaches its gateway, seen from inside: ``gateway`` is a name in its hosts file."""
        return f"http://gateway:{GATEWAY_PORT}"

    def home(self, job_name: str) -> PurePosixPath:
        """Where the sandbox tree of a job stands, seen from inside."""
        return HOME
