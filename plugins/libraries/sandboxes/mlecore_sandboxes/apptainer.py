"""Sandboxes by Apptainer: where ordinary users may create no namespaces, its setuid program does; and jobs in images.

A sandbox shows what one of bubblewrap shows, or an image and a job's own folders. Nothing outside may enter its
namespaces, so its first program hands out what the supervisor needs (`mlecore_jobs.supervise.enter`).
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from attrs import evolve

from mlecore.model.backends import Enforcement, Job, Problem, Sandbox
from mlecore.util.child_environment import child_environment
from mlecore_jobs import confining, seccomp
from mlecore_jobs.supervise import enter, relaying
from mlecore_jobs.supervise.door import SOCKET
from mlecore_sandboxes import bubblewrap, view
from mlecore_sandboxes.pythons import base_python

INSIDE = "/run/mlecore"  # where a sandbox shows the folder of its door
_LEAKS = 99
_PROBE = (  # a network with the loopback only, and a first process
    f"[ $$ = 1 ] || exit {_LEAKS}; while read -r name rest; do case $name in lo:* | *'|'*) ;; Inter* | face*) ;; "
    f"*) exit {_LEAKS} ;; esac; done </proc/net/dev"
)
# It ends with the process that started it: of setuid programs the kernel forgets that they shall. Ended by SIGTERM.
_KEEPER = """exec 3<&0
"$@" <&3 3<&- &
child=$!
trap 'kill -KILL "$child"' TERM
wait "$child"
code=$?
wait "$child" 2>/dev/null
exit "$code"
"""
_MISSING = "Ask the administrators for Apptainer, or load its module before mlecore starts."


def command_line(
    job: Job,
    fresh: Path,
    folder: Path,
    binds: Iterable[Path],
    extra: Mapping[PurePosixPath, Path],
    image: Path | None,
) -> bubblewrap.CommandLine:
    """What to start: the system's programs, ``binds`` and ``extra`` (under other paths), or ``image``.

    Writes what it needs to ``fresh``, which will be ``folder``.
    """
    shared = job.resources.network == "open"
    names = ("passwd", "group", "hostname", *(() if shared else ("hosts", "resolv.conf")))
    shown = list(view.job(job, folder, names))
    if image is None:
        shown = [
            *view.system(shared),
            *view.hardware(bool(job.resources.gpus)),
            *shown,
            *view.environment(binds, extra),
        ]
    write_door(fresh / "door")
    outer = [*_keeper(), *exec_line([*shown, _door(folder)], own_network=not shared)]
    if image is not None and job.resources.gpus:
        outer.append("--nv")  # the driver's libraries, which the image lacks
    python = "python3" if image is not None else base_python()
    ports = [str(port) for port in relaying.PORTS] if job.resources.network == "llm" else []
    root = image or folder / "root"
    if image is None:
        skeleton(fresh / "root", (_before(each, fresh, folder) for each in shown))
    return bubblewrap.CommandLine(outer=outer, last=[str(root), *_entering(python), *ports])


def build_line(folder: Path, cache: Path, target: Path, reads: Iterable[Path], own_network: bool) -> list[str]:
    """For a step of a build, as ``bubblewrap.build_line``."""
    system = view.system(not own_network, ("pip.conf", "uv", "npmrc"))
    shown = [*system, *view.build(folder, cache, target, reads, ("passwd", "group", "hostname"))]
    write_door(folder / "door")
    shown += view.environment([Path(sys.base_prefix).resolve()], {})
    outer = [*_keeper(), *exec_line([*shown, _door(folder)], own_network)]
    return [*outer, str(skeleton(folder / "root", shown)), *_entering(base_python())]


def exec_line(shown: Iterable[view.Shown], own_network: bool) -> list[str]:
    """Apptainer and its options, before an image or a root and a command."""
    options = ["--containall", "--no-init", "--no-home", "--no-eval", "--no-umask", "--uts", "--hostname", "mlecore"]
    options += ["--no-mount", "sys,tmp,cwd,hostfs,bind-paths", "--pwd", "/"]
    if own_network:
        options += ["--net", "--network", "none"]
    for each in shown:
        if each.how != "link":
            options += ["--mount", _mount(each)]
    return [program(), "--quiet", "exec", *options]


def _mount(each: view.Shown) -> str:
    out = io.StringIO()
    words = [
        "type=bind",
        f"source={each.outside}",
        f"destination={each.inside}",
        *(["ro"] if each.how == "read" else []),
    ]
    csv.writer(out, lineterminator="").writerow(words)
    return out.getvalue()


def _keeper() -> list[str]:
    return [bubblewrap.helper("setpriv"), "--pdeathsig=TERM", "sh", "-c", _KEEPER, "sh"]


def _door(folder: Path) -> view.Shown:
    return view.Shown(Path(INSIDE), folder / "door")


def _entering(python: str) -> list[str]:
    return [python, "-I", "-S", f"{INSIDE}/enter.py", f"{INSIDE}/{SOCKET}"]


def device(files: Iterable[Path]) -> list[str]:
    """Options that show these devices, which it allows at their own paths in /dev only."""
    return [word for file in files for word in ("--bind", str(file))]


def write_door(folder: Path) -> None:
    """The first program, and what it imports."""
    package = folder / "mlecore_jobs"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for module in (confining, seccomp):
        shutil.copy(str(module.__file__), package)
    shutil.copyfile(enter.__file__, folder / "enter.py")


def _before(each: view.Shown, fresh: Path, folder: Path) -> view.Shown:
    """As it lies before ``fresh`` becomes ``folder``."""
    if each.how == "link" or not each.outside.is_relative_to(folder):
        return each
    return evolve(each, outside=fresh / each.outside.relative_to(folder))


def skeleton(folder: Path, shown: Iterable[view.Shown]) -> Path:
    """A root with nothing but the places where something is shown."""
    folder.mkdir()
    for name in ("dev", "proc", "sys", "etc", "tmp", "var", INSIDE.lstrip("/")):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("passwd", "group", "resolv.conf"):
        (folder / "etc" / name).touch()
    covered: set[Path] = set()
    for each in shown:
        target = folder / each.inside.relative_to("/")
        if covered & set(each.inside.parents):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if each.how == "link":
            target.symlink_to(each.outside)
        elif each.outside.is_dir():
            target.mkdir(exist_ok=True)
            covered.add(each.inside)
        else:
            target.touch()
    for path, _, _ in os.walk(folder):
        Path(path).chmod(0o755)  # whatever our umask is
    return folder


def program() -> str:
    return shutil.which("apptainer") or "apptainer"


def _run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, env=child_environment(), capture_output=True, text=True, timeout=60, check=False)


@cache
def version() -> str:
    """Such as "Apptainer 1.4.0 (setuid)"."""
    number = _run([program(), "--version"]).stdout.split()[-1:]
    return f"Apptainer {''.join(number)} ({'setuid' if _is_setuid() else 'rootless'})"


def _is_setuid() -> bool:
    starter = Path(program()).resolve().parent.parent / "libexec" / "apptainer" / "bin" / "starter-suid"
    return starter.exists() and bool(starter.stat().st_mode & 0o4000) and starter.stat().st_uid == 0


@cache
def problem() -> Problem | None:
    """Why sandboxes of Apptainer do not work here, tested by making one."""
    if shutil.which("apptainer") is None:
        return Problem(description="Apptainer is not installed", fix=_MISSING)
    if shutil.which("setpriv") is None:
        return Problem(description="setpriv is not installed", fix="Install it (apt-get install util-linux).")
    if os.geteuid() == 0:
        return Problem(
            description="Apptainer runs agents of ordinary users only, not root's", fix="Use an own account."
        )
    with tempfile.TemporaryDirectory(prefix="mlecore-") as scratch:
        folder = Path(scratch)
        shown = list(view.system(False))
        root = skeleton(folder / "root", shown)
        argv = [*exec_line(shown, own_network=True), str(root), "/bin/sh", "-c", _PROBE]
        try:
            done = _run(argv)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Problem(description=f"Apptainer does not work here: {error}", fix=_MISSING)
    if done.returncode == 0:
        return None
    if done.returncode == _LEAKS:
        text = "a sandbox of Apptainer sees the machine's network or processes"
        return Problem(description=text, fix="Ask the administrators: `pid namespace` in apptainer.conf.")
    return Problem(description=f"Apptainer does not work here: {done.stderr.strip()[-300:]}", fix=_MISSING)


def described(without: Sandbox) -> Sandbox:
    """The levels, by those of jobs ``without`` a sandbox: memory, processes and CPUs are not Apptainer's."""
    return evolve(
        without,
        isolation=version(),
        user="the controller's own, without a user namespace"
        if _is_setuid()
        else "the controller's, in a user namespace",
        time=Enforcement(level="enforced", how="init, and a supervisor outside"),
        network=Enforcement(level="enforced", how="network namespace"),
        network_verified=True,  # by ``problem``
        details={**without.details, "system_calls": "filtered" if seccomp.here() else "not filtered"},
    )
