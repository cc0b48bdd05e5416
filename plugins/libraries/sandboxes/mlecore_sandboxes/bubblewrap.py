"""The sandbox: bubblewrap's command line, and whether it works here at all."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from attrs import field, frozen

from mlecore.model.backends import Job, Problem, Resources
from mlecore.util.child_environment import child_environment
from mlecore_jobs.supervise import slirp
from mlecore_sandboxes import view

AGENT = 1000  # uid of the agent inside, if it has a user namespace
_FIRST, _COUNT = 1_900_000_000, 90_000_000  # uids that no distribution uses

_INIT_FILES = ("mem", "oom_adj", "oom_score_adj")  # with which an agent could take over init, or offer it to the kernel

_HOW = {"read": "--ro-bind", "write": "--bind", "link": "--symlink"}

# What bubblewrap makes of memory that nobody counts. /dev has mounts of its own for what is written to.
_CLOSED = ["--remount-ro", "/dev", "--remount-ro", "/"]

_LEAKS = 99
_PROBE = (  # only the loopback may be there
    f"while read -r name rest; do case $name in lo:* | *'|'*) ;; Inter* | face*) ;; *) exit {_LEAKS} ;; esac; "
    "done </proc/net/dev"
)
NO_BWRAP = "Install it (apt-get install bubblewrap), or give -B isolation=none to run agents without a sandbox."


@frozen(kw_only=True)
class CommandLine:
    """A command line in parts, which the supervisor joins."""

    outer: list[str]  # the program that makes the sandbox, and its options
    last: list[str]  # what must come after the devices
    prelude: list[str] = field(factory=list)  # what drops privileges and sets limits, inside bubblewrap's


def sandbox_user(name: str) -> int | None:
    """The user of a job's processes, one per job: no run can signal another. None: ours, in a namespace."""
    if os.geteuid() != 0:
        return None
    draw = zlib.crc32(name.encode())
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = (int(word) for word in line.split())
        if first <= _FIRST and first + count >= _FIRST + _COUNT:
            return _FIRST + draw % _COUNT
        if first <= 60_000 and first + count >= 64_000:  # root of a container with few users
            return 60_000 + draw % 4_000
    return 65_534


def command_line(
    job: Job, folder: Path, binds: Iterable[Path], extra: Mapping[PurePosixPath, Path], file_size: int | None
) -> CommandLine:
    """What to start; ``binds`` are shown read-only under their own paths, ``extra`` under others."""
    user, resources = sandbox_user(job.name), job.resources
    own = open_network(resources)
    shared = resources.network == "open" and not own
    args = [*_namespaces(user), "--as-pid-1", *([] if shared else ["--unshare-net"])]
    args += ["--proc", "/proc", "--dev", "/dev"]
    for name in _INIT_FILES:
        args += ["--ro-bind", "/dev/null", f"/proc/1/{name}", "--ro-bind", "/dev/null", f"/proc/1/task/1/{name}"]
    size = ["--size", str(max(1 << 20, resources.memory // 2))] if resources.memory and _can_size() else []
    args += ["--perms", "1777", *size, "--tmpfs", "/dev/shm"]
    names = ("passwd", "group", "hostname", *(() if shared else ("hosts",)), *(("resolv.conf",) if own else ()))
    args += _showing(
        *view.system(shared), *view.hardware(bool(resources.gpus)), *view.job(job, folder, names),
        *view.environment(binds, extra),
    )  # fmt: skip
    args += ["--chdir", "/home"]
    prelude = _becoming(user)
    prelude += [helper("prlimit"), f"--nproc={resources.processes}", "--core=0"]
    if file_size:
        prelude.append(f"--fsize={file_size}")
    return CommandLine(outer=[program(), *args], last=_CLOSED, prelude=prelude)


def build_line(
    folder: Path, cache: Path, target: Path, reads: Iterable[Path], user: int | None, own_network: bool
) -> CommandLine:
    """For a step of a build: it writes to ``target`` and ``cache``, and sees ``reads`` under their own paths.

    ``folder`` has its home, its temporary files and its names; ``user`` is the user that it becomes, None: ours.
    """
    args = [*_namespaces(user), *(["--unshare-net"] if own_network else [])]
    args += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm"]
    names = ("passwd", "group", "hostname", *(("resolv.conf",) if own_network else ()))
    system = view.system(True, ("pip.conf", "uv", "npmrc"))
    args += [*_showing(*system, *view.build(folder, cache, target, reads, names)), "--chdir", "/home"]
    return CommandLine(outer=[program(), *args], last=_CLOSED, prelude=_becoming(user))


def _namespaces(user: int | None) -> list[str]:
    args = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "mlecore"]
    args += ["--die-with-parent", "--new-session"]
    if os.geteuid() != 0:
        return [*args, "--unshare-user", "--uid", str(AGENT), "--gid", str(AGENT)]
    needed = ("SETUID", "SETGID", "SETPCAP") if user is not None else ()  # to become that user
    return [*args, "--cap-drop", "ALL", *(word for name in needed for word in ("--cap-add", f"CAP_{name}"))]


def _becoming(user: int | None) -> list[str]:
    """What drops privileges, before a command."""
    if user is None:
        return []
    prelude = [helper("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all"]
    return [*prelude, "--bounding-set=-all", "--no-new-privs", "--pdeathsig=KILL"]


def open_network(resources: Resources) -> bool:
    """Does a job with the whole network get one of its own? Else it shares this machine's."""
    return resources.network == "open" and slirp.is_there()


def _showing(*shown: view.Shown) -> list[str]:
    """Options for these paths, and for the folders above them, which would get the modes of the real ones."""
    args: list[str] = []
    created = {Path("/")}
    for each in shown:
        for folder in reversed(each.inside.parents):
            if folder not in created:
                args += ["--perms", "0755", "--dir", str(folder)]
                created.add(folder)
        args += [_HOW[each.how], str(each.outside), str(each.inside)]
        created.add(each.inside)
    return args


def device(files: Iterable[Path]) -> list[str]:
    """Options that show these devices."""
    return [word for file in files for word in ("--dev-bind", str(file), f"/dev/{file.name}")]


def write_etc(folder: Path, user: int | None) -> None:
    """Users and names as the sandbox shows them."""
    number = AGENT if user is None else user
    etc = folder / "etc"
    etc.mkdir()
    nobody = "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    agent = f"agent:x:{number}:{number}:agent:/home:/bin/sh\n"
    (etc / "passwd").write_text(f"root:x:0:0:root:/root:/bin/sh\n{agent}{nobody}")
    (etc / "group").write_text(f"root:x:0:\nagent:x:{number}:\nnogroup:x:65534:\n")
    (etc / "hostname").write_text("mlecore\n")
    (etc / "hosts").write_text("127.0.0.1 localhost mlecore\n::1 localhost\n")
    (etc / "resolv.conf").write_text(f"nameserver {slirp.RESOLVER}\n")
    for path in etc.iterdir():  # whatever our umask is
        path.chmod(0o644)


@cache
def _can_size() -> bool:
    """Versions before 0.7 cannot limit it; the supervisor counts it as the job's memory in any case."""
    return "--size" in _run([program(), "--help"]).stdout


def helper(name: str) -> str:
    """The machine's program, whatever the job's PATH says: it still runs with privileges."""
    return shutil.which(name, path="/usr/bin:/usr/sbin:/bin:/sbin:/usr/local/bin") or f"/usr/bin/{name}"


def program() -> str:
    return shutil.which("bwrap") or "bwrap"


def _run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, env=child_environment(), capture_output=True, text=True, timeout=20, check=False)


def version() -> str:
    done = _run([program(), "--version"])
    return done.stdout.strip() or "bubblewrap"


def problem() -> Problem | None:
    """Why sandboxes do not work here, tested by making one."""
    if platform.system() != "Linux":
        return Problem(
            description=f"sandboxes need Linux, and this is {platform.system()}", fix="Use the backend docker."
        )
    if shutil.which("bwrap") is None:
        return Problem(description="bubblewrap (bwrap) is not installed", fix=NO_BWRAP)
    for name in ("prlimit", "nsenter", *(("setpriv",) if os.geteuid() == 0 else ())):
        if shutil.which(name) is None:
            return Problem(description=f"{name} is not installed", fix="Install it (apt-get install util-linux).")
    argv = [program(), "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent"]
    if os.geteuid() != 0:
        argv += ["--unshare-user"]
    argv += [*_showing(*view.system(False)), "--proc", "/proc", "--dev", "/dev", "--", "/bin/sh", "-c", _PROBE]
    try:
        done = _run(argv)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Problem(description=f"bubblewrap does not work here: {error}", fix=NO_BWRAP)
    if done.returncode == 0:
        return None
    if done.returncode == _LEAKS:
        return Problem(
            description="a sandbox without a network still sees the machine's", fix="Use the backend docker."
        )
    return Problem(description=f"bubblewrap does not work here: {done.stderr.strip()[-300:]}", fix=_advice(done.stderr))


def _advice(said: str) -> str:
    if "nknown option" in said:
        return "Install bubblewrap 0.5 or newer, or give -B isolation=none."
    restricted = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if os.geteuid() != 0 and restricted.exists() and restricted.read_text().strip() == "1":
        return (
            "This system lets only listed programs make user namespaces: "
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give -B isolation=none."
        )
    clone = Path("/proc/sys/kernel/unprivileged_userns_clone")
    if os.geteuid() != 0 and clone.exists() and clone.read_text().strip() == "0":
        return "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or give -B isolation=none."
    most = Path("/proc/sys/user/max_user_namespaces")
    if os.geteuid() != 0 and most.exists() and most.read_text().strip() == "0":
        return "Allow user namespaces: sysctl user.max_user_namespaces=10000, or give -B isolation=none."
    if Path("/.dockerenv").exists():
        return "This is a container without the right to make namespaces: use the backend docker, or -B isolation=none."
    return "Is this a container, or are namespaces forbidden? Else give -B isolation=none: agents without a sandbox."
