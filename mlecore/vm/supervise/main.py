"""Supervise one job from start to end: claims, limits, output, the end of its process tree, its state on disk."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import stat
import sys
import time
from typing import Any

from . import claims, processes, relaying, terminal
from .cgroups import Group
from .files import LOCK, OUTPUT, SPEC, STATE, STOP, read_json, sync_disk, write_json
from .launch import Started, launch
from .output import Output
from .watch import Disk, Memory, Processes, others_filled

BACKSTOP = 30.0  # seconds after limit and grace, when init should have ended the job by itself
LOOK = 0.25  # seconds between two looks at memory where no cgroup limits it
TICK = 2.0
RETRY = 5.0  # seconds until what could not be written is written again
SETTLE = 10.0  # seconds that a killed job may take to vanish
SHUTDOWN = 1.0  # seconds between the SIGTERM that a machine going down sends to init and the one that it sends to us
INIT_KILLED, ARGV_KILLED = 137, 247  # as in mlecore/backends.py, which is not imported here


class Supervisor:
    """One job."""

    def __init__(self, folder: str, claims_folder: str, given: dict[str, Any], spec: dict[str, Any]) -> None:
        self.folder = folder
        self.claims = claims_folder
        self.secrets: dict[str, str] = given["secrets"]
        self.gateway: str | None = given["gateway"]  # its settings; with them it is started again when it dies
        self.spec = spec
        self.name: str = spec["name"]
        self.state: dict[str, Any] = {
            "phase": "pending",
            "pid": os.getpid(),
            "started": processes.started(os.getpid()),
            "boot": processes.boot_id(),
            "reason": "",
        }
        self.gpus: dict[str, int] = {}
        self.cpus: dict[str, int] = {}
        self.group: Group | None = None
        self.init = 0  # the job's first process, as a number out here
        self.init_began = ""
        self.exit_code: int | None = None  # as bubblewrap reports it
        self.killed = ""  # why we killed it
        self.memory_kills = 0  # processes that we killed for their memory
        self.relay_error = ""  # why the relay did not start
        self.stop_at: float | None = None  # when a request to end turns into SIGKILL
        self.terminated = False  # we ourselves got SIGTERM
        self.relay: relaying.Relay | None = None
        self.wake, self._woken = os.pipe()

    def save(self, **changes: Any) -> None:
        self.state.update(changes)
        write_json(f"{self.folder}/{STATE}", self.state, durable=self.state["phase"] == "exited")

    def run(self) -> None:
        self._catch_signals()
        if not self._claim():
            self.save(phase="exited", exit_code=None, reason="stopped before it began", infra_failure=self.terminated)
            return
        spec = self.spec
        if spec["cgroup_parent"]:
            self.group = Group.make(
                spec["cgroup_parent"], self.name, spec["memory"], spec["cpus"], spec["processes"] + 2
            )
        if not spec["outer"]:
            processes.adopt_orphans()
        kills = _oom_kills()
        child = launch(spec, self.folder, self.secrets, list(self.gpus), list(self.cpus), self.group)
        self.secrets = {}
        self.save(
            sandbox=child.pid,
            sandbox_started=processes.started(child.pid),
            gpus=list(self.gpus),
            cpus=list(self.cpus),
            cgroup=self.group.path if self.group else None,
        )
        output = Output(child.output, f"{self.folder}/{OUTPUT}")
        if not spec["outer"]:
            self._began(child.pid)
        try:
            code = self._watch(child, output)
        finally:
            if self.relay is not None:
                self.relay.stop()
        output.drain()
        self._finish(code, kills)

    def _catch_signals(self) -> None:
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        for number in (signal.SIGUSR1, signal.SIGCHLD):  # all they do is to wake the loop
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGTERM, self._terminate)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _terminate(self, *_: object) -> None:
        self.terminated = True

    def _stop_grace(self) -> float | None:
        """Seconds of grace, if the job shall end."""
        try:
            with open(f"{self.folder}/{STOP}") as source:  # noqa: PTH123
                return float(source.read() or "0")
        except (OSError, ValueError):
            return 5.0 if self.terminated else None

    def _claim(self) -> bool:
        """Wait for the GPUs; take CPUs where enough are free. False: it shall end already."""
        spec = self.spec
        while len(self.gpus) < spec["gpus"]:
            self.gpus = claims.claim(self.claims, "gpu", spec["gpu_ids"], spec["gpus"], self.name)
            if len(self.gpus) < spec["gpus"]:
                claims.release(self.gpus)
                self.save(reason="waits for a GPU; " + claims.holders(self.claims, "gpu", spec["gpu_ids"]))
                self._sleep(1.0)
                if self._stop_grace() is not None:
                    return False
        if spec["cpus"]:
            all_cpus = [str(number) for number in sorted(os.sched_getaffinity(0))]
            count = min(len(all_cpus), max(1, int(-(-spec["cpus"] // 1))))
            self.cpus = claims.claim(self.claims, "cpu", all_cpus, count, self.name)
            for name in all_cpus:  # more jobs than CPUs: share
                if len(self.cpus) < count and name not in self.cpus:
                    self.cpus[name] = os.open("/dev/null", os.O_RDONLY)
        return self._stop_grace() is None

    def _sleep(self, seconds: float) -> None:
        ready, _, _ = select.select([self.wake], [], [], seconds)
        if ready:
            os.read(self.wake, 4096)

    def _began(self, init: int) -> None:
        self.init = init
        self.init_began = processes.started(init)
        self.save(phase="running", reason="", init=init, init_started=self.init_began)

    def _watch(self, child: Started, output: Output) -> int:
        """Until the job's first process has ended; its wait status."""
        spec = self.spec
        poll = select.poll()
        for descriptor in (child.output, child.status, self.wake):
            if descriptor >= 0:
                poll.register(descriptor, select.POLLIN)
        typed = terminal.typed(spec, self.folder)
        if typed:
            poll.register(child.output, select.POLLIN | select.POLLOUT)
        begun = time.monotonic()
        backstop = begun + spec["time_limit"] + spec["grace"] + BACKSTOP
        watched: Memory | None = None
        disk = Disk(spec["disk_folders"], spec["disk"], spec["disk_every"]) if spec["disk"] else None
        looks = (spec["memory"] is not None and self.group is None) or not spec["outer"]
        said = b""
        look_at = begun
        while True:
            tick = 0.01 if child.gate >= 0 else LOOK if looks or self.stop_at else TICK
            for descriptor, event in poll.poll(int(1000 * tick)):
                if event & select.POLLOUT:
                    typed = terminal.put(descriptor, typed)
                    poll.modify(descriptor, select.POLLIN | (select.POLLOUT if typed else 0))
                if event == select.POLLOUT:
                    continue
                if descriptor == child.output and not output.pump():
                    poll.unregister(descriptor)
                elif descriptor == child.status:
                    more = _read(descriptor)
                    said += more
                    if not more:
                        poll.unregister(descriptor)
                    self._read_status(said)
                elif descriptor == self.wake:
                    os.read(self.wake, 4096)
                    look_at = 0.0
            ended, status = os.waitpid(child.pid, os.WNOHANG)
            if ended:
                if disk is not None:
                    disk.close()
                self._read_status(said + _read(child.status))
                return status
            now = time.monotonic()
            if now < look_at and child.gate < 0:  # much output must not mean many looks
                continue
            look_at = now + (LOOK / 2)
            self._check_stop_request(now)
            if not spec["outer"]:
                processes.reap(child.pid)
            if child.gate >= 0 and self._sandbox_ready():
                self._open_gate(child)
            if self.relay is not None:
                self.relay.repair()
            if now > backstop and not self.killed:
                self._kill("time")
            if not self.init or self.killed:
                continue
            if looks:
                watched = watched or self._memory_watch()
                if watched is not None and (what := watched.over()):
                    if what == "memory":
                        self._end_largest()
                    else:
                        self._kill(what)
            if disk is not None and disk.over():
                self._kill("disk")

    def _memory_watch(self) -> Memory | None:
        wrapped = bool(self.spec["outer"])
        if wrapped and not self._sandbox_ready():
            return None
        try:
            seen = Processes(self.init, wrapped)
        except OSError:  # ended already
            return None
        return Memory(seen, self.spec["memory"] if self.group is None else None, self.spec["processes"])

    def _sandbox_ready(self) -> bool:
        """Is the sandbox whole? Until then its first process still sees the whole machine."""
        try:
            return os.path.samefile(f"/proc/{self.init}/root/home", self.spec["home_outside"])  # noqa: PTH121
        except OSError:
            return False

    def _open_gate(self, child: Started) -> None:
        """What waits for the relay may begin."""
        try:
            self.relay = relaying.of(self.spec, self.folder, self.init, self.gateway)
            if self.relay is not None:
                self.relay.start()
        except (OSError, RuntimeError) as error:
            self.relay = None
            self.relay_error = str(error)
            self._kill("relay")
        os.write(child.gate, b".")
        os.close(child.gate)
        child.gate = -1

    def _read_status(self, said: bytes) -> None:
        """What bubblewrap reports: the first process's number, its exit code."""
        for line in said.splitlines():
            with contextlib.suppress(ValueError, KeyError):
                words = json.loads(line)
                if "child-pid" in words and not self.init:
                    self._began(int(words["child-pid"]))
                if "exit-code" in words:
                    self.exit_code = int(words["exit-code"])

    def _check_stop_request(self, now: float) -> None:
        """End the job where that was requested."""
        grace = self._stop_grace()
        if grace is None:
            return
        if self.stop_at is None:
            self.stop_at = now + grace
        if now >= self.stop_at:
            self._kill("stopped")
        elif self.init:
            processes.send(self.init, signal.SIGTERM)

    def _end_largest(self) -> None:
        """As a cgroup does it: the process with most memory is killed, and the job goes on if it can."""
        self.memory_kills += 1
        if below := processes.below(self.init):
            processes.send(max(below, key=processes.resident), signal.SIGKILL)

    def _kill(self, why: str) -> None:
        self.killed = self.killed or why
        target = self.init or int(self.state["sandbox"])
        processes.send(target, signal.SIGKILL)
        if not self.spec["outer"]:
            processes.end_tree(self.spec, os.getpid())

    def _finish(self, status: int, kills: int) -> None:
        code = os.waitstatus_to_exitcode(status)
        code = 128 - code if code < 0 else code
        if self.spec["outer"]:
            processes.end(self.init, self.init_began, SETTLE)
            code = code if self.exit_code is None else self.exit_code
        processes.end_tree(self.spec, None if self.spec["outer"] else os.getpid(), SETTLE)
        if b'"stopped": true' in self._report() and self._stop_grace() is None:
            time.sleep(SHUTDOWN)
        group_kills = self.group.oom_kills() if self.group else 0
        if self.group:
            self.group.remove()
        outcome = self._outcome(code, group_kills, _oom_kills() - kills)
        try:
            sync_disk(self.folder)  # the word "exited" must not survive a power loss that what the job left does not
        except OSError as error:
            outcome.update(
                infra_failure=True, reason=f"what it left could not be written to the disk: {error.strerror}"
            )
        while True:
            try:
                self.save(phase="exited", **outcome)
            except OSError:  # a full disk must not turn a run that has ended into one that is lost
                time.sleep(RETRY)
            else:
                return

    def _outcome(self, code: int, group_kills: int, host_kills: int) -> dict[str, Any]:
        spec = self.spec
        out: dict[str, Any] = {"exit_code": code, "oom": False, "infra_failure": False, "reason": ""}
        out["timed_out"] = self.killed == "time"
        if (self.memory_kills or group_kills) and code not in (0, 124) and not self.killed:
            out.update(oom=True, reason=f"used more than its {spec['memory']} bytes of memory")
        elif self.killed == "processes":
            out.update(reason=f"had more than its {spec['processes']} processes")
        elif self.killed == "disk":
            out.update(reason=f"wrote more than its {spec['disk']} bytes")
        elif self.killed == "relay":
            out.update(infra_failure=True, reason=self.relay_error)
        elif self.terminated:
            out.update(infra_failure=True, reason="its supervisor was terminated (is the machine shutting down?)")
        elif self.killed == "stopped":
            out.update(reason="stopped, and killed when the grace was over")
        elif self.killed:
            out.update(reason="the time limit passed and init did not end the job")
        elif self._stop_grace() is not None:
            out.update(reason="stopped")
        elif spec["outer"] and self.exit_code is None:
            out.update(infra_failure=True, reason=f"the sandbox could not be made or was killed: {self._last_words()}")
        elif host_kills and code in (INIT_KILLED, ARGV_KILLED):  # the machine as a whole was short of memory
            words = "the machine ran out of memory and its kernel killed the job's processes"
            out.update(oom=spec["memory"] is None, infra_failure=spec["memory"] is not None, reason=words)
        elif code == INIT_KILLED and spec["outer"]:  # nothing inside can do that, see mlecore/backends.py
            out.update(infra_failure=True, reason="its first process was killed from outside the sandbox")
        elif (code or not self._report()) and others_filled(spec["disk_folders"], spec["room"]):
            words = "the disk is full, though this job wrote less than was free when it began"
            out.update(infra_failure=True, reason=words)
        if self.killed:
            out["exit_code"] = INIT_KILLED
        return out

    def _report(self) -> bytes:
        """What init wrote at its end, as far as the agent let it: only the beginning of a regular file is read."""
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.open(f"{self.spec['home_outside']}/.mlecore/exit.json", flags)
        except OSError:
            return b""
        try:
            return os.read(file, 4096) if stat.S_ISREG(os.fstat(file).st_mode) else b""
        finally:
            os.close(file)

    def _last_words(self) -> str:
        try:
            with open(f"{self.folder}/{OUTPUT}", "rb") as source:  # noqa: PTH123
                source.seek(max(0, source.seek(0, os.SEEK_END) - 400))
                return source.read().decode(errors="replace").strip() or "it said nothing"
        except OSError:
            return "it said nothing"


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16) if descriptor >= 0 else b""
    except OSError:
        return b""


def _oom_kills() -> int:
    """How many processes this machine's kernel has killed for want of memory since boot."""
    try:
        with open("/proc/vmstat") as source:  # noqa: PTH123
            return next((int(line.split()[1]) for line in source if line.startswith("oom_kill ")), 0)
    except OSError:
        return 0


def main(folder: str, claims_folder: str) -> None:
    """What must not lie on a disk comes as JSON on standard input; one byte on standard output says: it is taken."""
    given = json.load(sys.stdin)
    if os.fork():
        os._exit(0)  # the controller waits for this one only
    os.chdir("/")
    lock = os.open(f"{folder}/{LOCK}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another supervisor has it
        return
    spec = read_json(f"{folder}/{SPEC}")
    if spec is None or os.path.exists(f"{folder}/{STATE}"):  # noqa: PTH110 - begun before: never twice
        return
    supervisor = Supervisor(folder, claims_folder, given, spec)
    supervisor.save()
    with contextlib.suppress(BrokenPipeError):  # the controller may have been killed meanwhile
        os.write(1, b".")
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    try:
        supervisor.run()
    except BaseException as error:
        import traceback

        traceback.print_exc()
        processes.end_tree(spec, os.getpid())
        words = f"its supervisor failed: {type(error).__name__}: {error}"
        supervisor.save(phase="exited", exit_code=None, infra_failure=True, reason=words)
        raise
