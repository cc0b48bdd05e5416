"""One controller per group: the holder of controller.lock writes; others get an error that names it."""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlecore import files
from mlecore.child_environment import child_environment
from mlecore.errors import DataError, MlecoreError

BEAT = 5.0  # seconds between heartbeats
PATIENCE = 3.5 * BEAT  # without a heartbeat its holder is dead; by our own clock, as others may be wrong

_LONGEST = 4096  # bytes of what a holder writes
_RETRIES = 4  # for a lock that is taken: perhaps somebody only checks whether it is held, see holder()


class GroupLocked(MlecoreError):
    """Another controller holds the group."""


class LockLost(MlecoreError):
    """The lock file was removed or taken over while we held it; nothing more may be written."""


class GroupLock:
    """Held from ``acquire`` to ``release``; the holder calls ``beat`` every few seconds.

    flock where the file system has it: the kernel frees it when the holder dies. It may be local to a host on network
    mounts, so a lock that was last held elsewhere is watched for its heartbeat first. Without flock, a
    claim file that is created exclusively is used instead, and only the heartbeat shows whether its holder lives.
    """

    def __init__(self, group: Path, say: Callable[[str], None] = lambda text: None) -> None:
        self.path = group / "controller.lock"
        self.claim = group / "controller.claim"
        self._say = say
        self._descriptor: int | None = None
        self._claimed = False
        self._held = False
        self._me = {**_this_process(), "token": secrets.token_hex(8)}
        self._beats = 0
        self._next = 0.0

    def __enter__(self) -> GroupLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Raises GroupLocked, naming the holder, if it lives; DataError if the lock file is not a file."""
        try:
            self._descriptor = files.open_regular(self.path, below=self.path.parent, flags=os.O_RDWR | os.O_CREAT)
        except DataError as error:
            raise DataError(f"{self.path}: {error.message}", fix="Remove it.") from None
        try:
            if self._flock():
                self._watch_other_host(self.path)
            else:
                self._take_claim()
            self._held = True
            self.beat(now=True)
        except BaseException:
            self.release()
            raise

    def _flock(self) -> bool:
        """False if the file system has no such locks."""
        import fcntl

        assert self._descriptor is not None
        for tries_left in range(_RETRIES, -1, -1):
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError as error:
                if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
                    return False
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
            if not tries_left:
                raise _locked(self.path.parent, _read(self.path))
            time.sleep(0.05)
        raise AssertionError

    def _take_claim(self) -> None:
        for _ in range(3):
            try:
                descriptor = os.open(self.claim, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            except FileExistsError:
                holder = _read(self.claim)
                if holder.get("host") == self._me["host"]:
                    if _alive(holder):
                        raise _locked(self.path.parent, holder) from None
                else:
                    self._watch_other_host(self.claim)
                # Only one of two that find the same stale claim can move it away.
                stale = self.claim.with_name(f"controller.claim.stale-{self._me['token']}")
                try:
                    self.claim.rename(stale)
                except FileNotFoundError:
                    continue
                stale.unlink(missing_ok=True)
                self._say(f"took over the stale lock of {_who(holder)}")
                continue
            os.write(descriptor, json.dumps(self._me).encode())
            os.close(descriptor)
            self._claimed = True
            self._say("this file system has no flock: holding the group by a claim with a heartbeat")
            return
        raise _locked(self.path.parent, _read(self.claim))

    def _watch_other_host(self, path: Path) -> None:
        """Wait for a heartbeat of a holder on another host. Without one within PATIENCE it is gone."""
        first = _read(path)
        if not first or first.get("host") == self._me["host"]:
            return
        self._say(f"the group was last held by {_who(first)}; waiting for a sign of life, at most {PATIENCE:.0f} s")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(min(1.0, PATIENCE / 10))
            seen = _read(path)
            if seen != first:
                if seen:
                    raise _locked(self.path.parent, seen)
                return
        self._say(f"{_who(first)} shows no sign of life: taking over")

    def beat(self, *, now: bool = False) -> None:
        """Show that we are alive, at most every BEAT seconds. Raises LockLost if the lock is no longer ours."""
        if not now and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + BEAT
        self._beats += 1
        content = json.dumps({**self._me, "beat": self._beats, "at": time.strftime("%Y-%m-%dT%H:%M:%S%z")}).encode()
        if not self.path.parent.is_dir():
            return  # the disk is unmounted: nobody else can take the lock there either
        try:
            self._claim_beat(content) if self._claimed else self._flock_beat(content)
        except OSError:  # a full or failing disk: the next beat may succeed
            return

    def _claim_beat(self, content: bytes) -> None:
        if _read(self.claim).get("token") != self._me["token"]:
            raise _lost(self.claim)
        files.replace(self.claim, content)

    def _flock_beat(self, content: bytes) -> None:
        assert self._descriptor is not None
        try:
            same = os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            same = False
        if not same:
            raise _lost(self.path)
        os.pwrite(self._descriptor, content.ljust(400), 0)

    def release(self) -> None:
        """Idempotent. An empty lock file says that its holder ended normally."""
        if self._claimed:
            self._claimed = False
            self.claim.unlink(missing_ok=True)
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            held, self._held = self._held, False
            try:
                if held:
                    os.ftruncate(descriptor, 0)
            except OSError:  # the folder may be gone or the disk failing; closing frees the lock anyway
                return
            finally:
                os.close(descriptor)


def holder(group: Path) -> dict[str, Any] | None:
    """Who holds the group now; takes the lock for a moment at most."""
    path = group / "controller.lock"
    try:
        descriptor = files.open_regular(path, below=group, flags=os.O_RDWR)
    except PermissionError:
        return _read(path) or None
    except (OSError, DataError):  # there is none, or none that a controller could hold
        return None
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return _read(path) or {"host": "?", "pid": "?"}
        claim = _read(group / "controller.claim")
        return claim if claim and (claim.get("host") != socket.gethostname() or _alive(claim)) else None
    finally:
        os.close(descriptor)
    return None


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(files.read_regular(path, _LONGEST, below=path.parent) or b"{}")
    except (OSError, ValueError, RecursionError, DataError):
        return {}
    return value if isinstance(value, dict) else {}


def _boot() -> str:
    """An id that changes with every boot, so that an old pid is not taken for a current one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _this_process() -> dict[str, Any]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "boot": _boot(), "began": _began(os.getpid())}


def _began(pid: int) -> str:
    """When a process began: with its number, this identifies it. Numbers are reused. Empty: it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        if Path("/proc/self/stat").exists():
            return ""
    words = ["ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(words, env=child_environment(), capture_output=True, text=True, check=False).stdout.strip()


def _alive(holder: dict[str, Any]) -> bool:
    """A holder on this host."""
    pid = holder.get("pid")
    same_boot = holder.get("boot") == _boot() and isinstance(pid, int) and 0 < pid < 2**31
    return same_boot and holder.get("began") == _began(int(str(pid))) != ""


def _who(holder: dict[str, Any]) -> str:
    return f"process {holder.get('pid', '?')} on host {holder.get('host', '?')}"


def _locked(group: Path, holder: dict[str, Any]) -> GroupLocked:
    last = f" (last heartbeat {holder['at']})" if "at" in holder else ""
    return GroupLocked(
        f"the group {group.name} is being run by {_who(holder)}{last}",
        fix=f"Wait for it, or stop that process; its runs go on. To see them: mlecore runs list {group.name}",
    )


def _lost(path: Path) -> LockLost:
    return LockLost(
        f"{path} was removed or taken over by another controller: this one stops and writes nothing more",
        fix=f"Nothing is lost. To go on: mlecore runs resume {path.parent.name}",
    )
