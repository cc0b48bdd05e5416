"""Supervise one job from start to end: claims, limits, output, the end of its process tree, its state on disk."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import time
from typing import Any

from mlecore_jobs.hardware import measured

from . import claims, processes, relaying, slirp, terminal
from .cgroups import Group
from .deadline import Deadline
from .disk import cut
from .door import Guest
from .files import OUTPUT, STATE, STOP, sync_disk, write_json
from .helpers import Helpers
from .launch import Started, launch, orders
from .limits import WatchedLimits
from .namespaces import is_whole
from .outcome import End, outcome, report
from .output import Output
from .spec import JobSpec
from .watch import oom_kills

LOOK = 0.25  # seconds between two looks at memory where no cgroup limits it
TICK = 2.0
RETRY = 5.0  # seconds until what could not be written is written again
WAIT_FOR_ROOM = 3600.0  # seconds that a full disk is given until its end counts as lost
WAIT_FOR_DISK = 600.0  # the same for a disk that is away, read-only or broken
SETTLE = 10.0  # seconds that a killed job may take to vanish
LOST = 255  # exit code of an Apptainer that failed, and never of init
SHUTDOWN = 1.0  # seconds between the SIGTERM that a machine going down sends to init and the one that it sends to us


class Supervisor:
    """One job."""

    def __init__(self, folder: str, claims_folder: str, given: dict[str, Any], spec: JobSpec) -> None:
        self.folder = folder
        self.claims = claims_folder
        self.secrets: dict[str, str] = given["secrets"]
        self.gateway: str | None = given["gateway"]  # its settings; with them it is started again when it dies
        self.spec = spec
        self.name: str = spec.name
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
        self.exit_code: int | None = None  # of init, as the program that made its sandbox reports it
        self.deadline: Deadline | None = None
        self.started = time.monotonic()  # when init could begin
        self.end = End(spec, folder)
        self.stop_at: float | None = None  # when a request to end turns into SIGKILL
        self.helpers: Helpers | None = None
        self.wake, self._woken = os.pipe()

    def save(self, **changes: Any) -> None:
        self.state.update(changes)
        write_json(f"{self.folder}/{STATE}", self.state, durable=self.state["phase"] == "exited")

    def run(self) -> None:
        self._catch_signals()
        if not self._claim():
            self.save(
                phase="exited", exit_code=None, reason="stopped before it began", infra_failure=self.end.terminated
            )
            return
        spec = self.spec
        if spec.cgroup_parent:  # an error ends it: the record says that the limits are enforced
            self.group = Group.make(spec.cgroup_parent, self.name, spec.memory, spec.cpus, spec.processes + 2)
        if not spec.sandboxed:
            processes.adopt_orphans()
        child = launch(spec, self.folder, self.secrets, list(self.gpus), list(self.cpus), self.group)
        if child.door is None:
            self.secrets = {}
        self.save(
            sandbox=child.pid,
            sandbox_started=processes.started(child.pid),
            gpus=list(self.gpus),
            cpus=list(self.cpus),
            cgroup=self.group.path if self.group else None,
            hardware=measured(spec.cpus, spec.memory, [spec.gpu_models[gpu] for gpu in self.gpus]),
        )
        output = Output(child.output, f"{self.folder}/{OUTPUT}")
        if not spec.sandboxed:
            self._began(child.pid)
        try:
            code = self._watch(child, output)
        finally:
            if self.helpers is not None:
                self.helpers.stop()
            if child.door is not None:
                child.door.close()
        ended = time.monotonic()
        output.drain()
        self._finish(code, ended)

    def _catch_signals(self) -> None:
        os.set_blocking(self._woken, False)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        for number in (signal.SIGUSR1, signal.SIGCHLD):  # all they do is to wake the loop
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGTERM, self._terminate)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _terminate(self, *_: object) -> None:
        self.end.terminated = True

    def _stop_grace(self) -> float | None:
        """Seconds of grace, if the job shall end."""
        try:
            with open(f"{self.folder}/{STOP}") as source:  # noqa: PTH123
                return float(source.read() or "0")
        except (OSError, ValueError):
            if self.end.terminated:
                return 5.0
            return 0.0 if self._was_removed() else None

    def _was_removed(self) -> bool:
        """Did a controller take it for lost and delete its folder? If a disk is away, the folder above is gone, too."""
        return not os.path.isdir(self.folder) and os.path.isdir(os.path.dirname(self.folder))  # noqa: PTH112, PTH120

    def _claim(self) -> bool:
        """Wait for the GPUs; take CPUs where enough are free. False: it shall end already."""
        spec = self.spec
        while len(self.gpus) < spec.gpus:
            self.gpus = claims.claim(self.claims, "gpu", spec.gpu_ids, spec.gpus, self.name)
            if len(self.gpus) < spec.gpus:
                claims.release(self.gpus)
                self.save(reason="waits for a GPU; " + claims.holders(self.claims, "gpu", spec.gpu_ids))
                self._sleep(1.0)
                if self._stop_grace() is not None:
                    return False
        if spec.cpus:
            all_cpus = [str(number) for number in sorted(os.sched_getaffinity(0))]
            count = min(len(all_cpus), max(1, int(-(-spec.cpus // 1))))
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
        self._start_clock()
        self.save(phase="running", reason="", init=init, init_started=self.init_began)

    def _start_clock(self) -> None:
        self.started = time.monotonic()
        self.deadline = Deadline(self.started, self.spec.time_limit, self.spec.grace)

    def _watch(self, child: Started, output: Output) -> int:
        """Until the job's first process has ended; its wait status."""
        spec = self.spec
        poll = select.poll()
        door = child.door.fileno() if child.door else -1
        for descriptor in (child.output, child.status, door, self.wake):
            if descriptor >= 0:
                poll.register(descriptor, select.POLLIN)
        typed = terminal.typed(spec, self.folder)
        if typed:
            poll.register(child.output, select.POLLIN | select.POLLOUT)
        limits = WatchedLimits(spec, self.group is not None)
        said = b""
        kills_before = kills = oom_kills()
        look_at = time.monotonic()
        while True:
            tick = 0.01 if child.gate >= 0 else LOOK if limits.often or self._hurries() else TICK
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
                elif descriptor == door:
                    poll.unregister(descriptor)
                    limits.guest = self._let_in(child)
                elif descriptor == self.wake:
                    os.read(self.wake, 4096)
                    look_at = 0.0
            ended, status = os.waitpid(child.pid, os.WNOHANG)
            if ended:
                limits.close()
                self.end.short_of_memory = oom_kills() > kills_before
                self._read_status(said + _read(child.status))
                return status
            now = time.monotonic()
            if now < look_at and child.gate < 0:  # much output must not mean many looks
                continue
            look_at = now + (LOOK / 2)
            kills_before, kills = kills, oom_kills()  # of the look before: a sandbox ends a moment after its init
            self._check_stop_request(now)
            if not spec.sandboxed:
                processes.reap({child.pid, limits.counting})
            if child.gate >= 0 and is_whole(self.init, spec.home_folder):
                self._open_gate(child)
            if self.helpers is not None:
                self.helpers.repair()
            if self.deadline is not None and self.deadline.check(now, self.init) and not self.end.killed:
                self._kill("time")
            if self.init and not self.end.killed and (what := limits.over(self.init)):
                if what == "memory":
                    self._end_largest()
                else:
                    self._kill(what)

    def _open_gate(self, child: Started) -> None:
        """Connect bubblewrap's sandbox to its network; then the job may begin."""
        self._connect(None)
        os.write(child.gate, b".")
        os.close(child.gate)
        child.gate = -1

    def _let_in(self, child: Started) -> Guest | None:
        """Tell the first program in a sandbox of Apptainer to begin. None: it has ended, and Apptainer says why."""
        assert child.door is not None
        try:
            guest = child.door.let_in()
        except OSError:
            return None
        self._began(guest.pid)
        if self.spec.needs_network:
            self._connect(guest)
        with contextlib.suppress(OSError):
            guest.begin(orders(self.spec, self.secrets, list(self.gpus), self.group is None))
        self.secrets = {}
        return guest

    def _connect(self, guest: Guest | None) -> None:
        try:
            if self.spec.network == "llm":
                helpers = relaying.helpers(self.spec, self.folder, self.init, self.gateway, guest)
            else:
                helpers = slirp.helpers(self.folder, self.init)
            helpers.start()
            self.helpers = helpers
        except (OSError, RuntimeError) as error:
            self.end.error = str(error)
            self._kill("no network")
        self._start_clock()

    def _hurries(self) -> bool:
        return bool(self.stop_at) or (self.deadline is not None and self.deadline.near(time.monotonic()))

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
        self.end.memory_kills += 1
        if below := processes.below(self.init):
            processes.send(max(below, key=processes.resident), signal.SIGKILL)

    def _kill(self, why: str) -> None:
        self.end.killed = self.end.killed or why
        target = self.init or int(self.state["sandbox"])
        # What starts Apptainer ends it when it is asked to, and not when it is killed itself.
        processes.send(target, signal.SIGTERM if self.spec.door and not self.init else signal.SIGKILL)
        if not self.spec.sandboxed:
            processes.end_tree(self.spec, os.getpid())

    def _finish(self, status: int, ended: float) -> None:
        code = os.waitstatus_to_exitcode(status)
        end = self.end
        end.code = 128 - code if code < 0 else code
        if self.spec.sandboxed:
            processes.end(self.init, self.init_began, SETTLE)
            if self.spec.door and self.init and 0 <= code != LOST:
                self.exit_code = code
            end.whole = self.exit_code is not None
            end.code = end.code if self.exit_code is None else self.exit_code
        processes.end_tree(self.spec, None if self.spec.sandboxed else os.getpid(), SETTLE)
        if end.killed in ("disk", "files"):
            cut(self.spec.home_folder, self.spec.tmp_folder, self.spec.disk)
        if b'"stopped": true' in report(self.spec) and self._stop_grace() is None:
            time.sleep(SHUTDOWN)
        end.stopped = self._stop_grace() is not None
        end.late = self.deadline is not None and self.deadline.passed(ended)
        if self.group:
            end.kills = self.group.kills()
            self.group.remove()
        last = outcome(end) | {"seconds": round(ended - self.started, 2) if self.init else None}
        try:
            sync_disk(self.folder)  # the word "exited" must not survive a power loss that what the job left does not
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)  # of what the job wrote itself, perhaps
            why = f"what it left could not be written to the disk: {error.strerror}"
            last.update(infra_failure=True, in_doubt=full, reason=why)
        self._save_end(last)

    def _save_end(self, last: dict[str, Any]) -> None:
        """A disk that is full or away for a while must not turn a run that has ended into one that is lost.

        Raises the OSError of a disk that stays so: the job then counts as lost, as its supervisor has died.
        """
        failing_since = time.monotonic()
        while True:
            try:
                self.save(phase="exited", **last)
            except OSError as error:
                if self._was_removed():
                    return
                patience = WAIT_FOR_ROOM if error.errno in (errno.ENOSPC, errno.EDQUOT) else WAIT_FOR_DISK
                if time.monotonic() - failing_since > patience:
                    raise
                time.sleep(RETRY)
            else:
                return


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16) if descriptor >= 0 else b""
    except OSError:
        return b""
