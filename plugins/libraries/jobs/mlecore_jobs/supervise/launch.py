"""Start a job's first process: descriptors, limits, command line."""

from __future__ import annotations

import fcntl
import os
import signal
from typing import Any

from mlecore_jobs import seccomp

from . import processes
from .cgroups import Group
from .door import Door
from .spec import JobSpec

_APPTAINERS = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


class Started:
    """The child and our ends of its pipes: its output, bubblewrap's reports, the signal to begin."""

    def __init__(self, pid: int, output: int, status: int, gate: int, door: Door | None) -> None:
        self.pid = pid
        self.output = output
        self.status = status  # -1 without bubblewrap
        self.gate = gate  # -1 if nothing waits
        self.door = door  # of Apptainer, until the first program inside has come


def command(spec: JobSpec, gpus: list[str], polled: bool, status: int, gate: int, filter: int) -> list[str]:
    """The whole command line."""
    argv: list[str] = list(spec.sandbox)
    if argv:
        for name in gpus:
            argv += spec.gpu_options.get(name, [])
        argv += spec.sandbox_last
        if spec.door:
            return argv
        argv += ["--json-status-fd", str(status)]
        if filter >= 0:
            argv += ["--seccomp", str(filter)]
        if gate >= 0:
            argv += ["--block-fd", str(gate)]
        argv += ["--", *spec.prelude]
        if polled and spec.memory:
            argv += [f"--data={_backstop(spec.memory)}"]
    return argv + list(spec.argv)


def orders(spec: JobSpec, secrets: dict[str, str], gpus: list[str], polled: bool) -> dict[str, Any]:
    """What the first program of a sandbox of Apptainer shall do."""
    limits = {"CORE": 0, "FSIZE": spec.disk}
    if polled and spec.memory:
        limits["DATA"] = _backstop(spec.memory)
    if polled:  # without a user namespace it counts all that this user has here: only a backstop
        limits["NPROC"] = processes.of_user(os.getuid()) + 2 * spec.processes
    env = environment(spec, secrets, gpus)
    return {"argv": spec.argv, "env": env, "limits": limits, "home": spec.home, "init": True, "keep": spec.keeps_env}


def _backstop(memory: int) -> int:
    """Private bytes that one process may allocate: between two checks, none must exhaust the machine.

    Address space is not limited, since some (CUDA) map much more than they use.
    """
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(max(2 * memory, machine * 3 // 4))


def environment(spec: JobSpec, secrets: dict[str, str], gpus: list[str]) -> dict[str, str]:
    """All variables of the sandbox."""
    env = {**spec.env, **secrets}
    if spec.door or not spec.sandboxed:  # it sees all GPUs of the machine, not only its own
        env["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    return env


def launch(
    spec: JobSpec,
    folder: str,
    secrets: dict[str, str],
    gpus: list[str],
    cpus: list[str],
    group: Group | None,
) -> Started:
    """Fork and exec. If exec fails, the job's output says why."""
    wrapped = spec.sandboxed
    status = gate = (-1, -1)
    filter = -1
    door = Door(spec.door) if spec.door else None
    if wrapped and door is None:
        filter = _filter()
        status = os.pipe()
        if spec.needs_network:
            gate = os.pipe()
    if spec.terminal:
        output, inner = os.openpty()
        stdin = inner
    else:
        output, inner = os.pipe()
        stdin = _stdin(f"{folder}/stdin")
    argv = command(spec, gpus, group is None, status[1], gate[0], filter)
    env = environment(spec, secrets, gpus) if door is None else _APPTAINERS
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            for source, target in ((stdin, 0), (inner, 1), (inner, 2)):
                os.dup2(source, target)
            for inherited in (status[1], gate[0], filter):
                if inherited >= 0:
                    os.set_inheritable(inherited, True)
            if group is not None:
                group.enter()
            if cpus:
                os.sched_setaffinity(0, {int(name) for name in cpus})
            if not wrapped:
                _limit(spec)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGINT):  # we ignore them
                signal.signal(number, signal.SIG_DFL)
            os.umask(0o022)
            os.chdir("/" if wrapped else spec.home)
            os.execve(argv[0], argv, env)
        except BaseException as error:
            os.write(2, f"mlecore: cannot start {argv[0]}: {error}\n".encode())
        finally:
            os._exit(126)
    for ours in (inner, status[1], gate[0], filter, *((stdin,) if stdin != inner else ())):
        if ours >= 0:
            os.close(ours)
    os.set_blocking(output, False)
    if status[0] >= 0:
        os.set_blocking(status[0], False)
    return Started(pid, output, status[0], gate[1], door)


def _stdin(path: str) -> int:
    """A copy in memory that nobody can write: by /proc, a process may open again what it has open, for writing too."""
    copy = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(path, "rb") as source:  # noqa: PTH123
        while os.sendfile(copy, source.fileno(), None, 1 << 24):
            pass
    os.lseek(copy, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(copy, fcntl.F_ADD_SEALS, seals)
    return copy


def _filter() -> int:
    """The filter of system calls, to be read from a descriptor; -1 where there is none for this machine."""
    program = seccomp.here()
    if program is None:
        return -1
    copy = os.memfd_create("filter", os.MFD_CLOEXEC)
    os.write(copy, program)
    os.lseek(copy, 0, os.SEEK_SET)
    return copy


def _limit(spec: JobSpec) -> None:
    """Sets what prlimit sets inside a sandbox."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (spec.disk, spec.disk))
