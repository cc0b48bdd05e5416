"""Hosts of a test's own: each an sshd in a network namespace behind a veth link that can be cut and slowed.

Needs root, iproute2 and sshd. All hosts share this machine's files and users; each has a home of its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from uuid import uuid4

_STARTED = 120.0  # seconds that an sshd may take


class NoHosts(Exception):
    """None can be made here."""


def missing() -> str:
    """Why there can be no hosts; empty if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    lacking = [name for name in ("ip", "tc", "ssh-keygen", "sshd") if _program(name) is None]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


class SshHost:
    """One host; ``address`` is where its sshd listens."""

    def __init__(self, folder: Path, number: int, known: Path, key: Path) -> None:
        """Raises NoHosts."""
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        tag = uuid4().hex[:6]
        self._space, self._near, self._far = f"mle-{tag}", f"mle{tag}a", f"mle{tag}b"
        net = f"198.18.{os.getpid() % 200}.{number * 4}"
        first = net.rpartition(".")[0]
        self._gateway, self.address = f"{first}.{number * 4 + 1}", f"{first}.{number * 4 + 2}"
        self._sshd: subprocess.Popen[bytes] | None = None
        try:
            _call("ip", "netns", "add", self._space)
            _call("ip", "link", "add", self._near, "type", "veth", "peer", "name", self._far, "netns", self._space)
            _call("ip", "addr", "add", f"{self._gateway}/30", "dev", self._near)
            _call("ip", "link", "set", self._near, "up")
            _call("ip", "-n", self._space, "addr", "add", f"{self.address}/30", "dev", self._far)
            _call("ip", "-n", self._space, "link", "set", "lo", "up")
            _call("ip", "-n", self._space, "link", "set", self._far, "up")
            self._start_sshd(known, key)
        except (OSError, subprocess.CalledProcessError) as error:
            self.close()
            said = getattr(error, "stderr", b"") or b""
            raise NoHosts(f"no host can be made here: {error} {said.decode(errors='replace').strip()}") from None

    def cut(self) -> None:
        """From now on nothing gets through; neither end is notified."""
        _call("ip", "-n", self._space, "link", "set", self._far, "down")

    def restore(self) -> None:
        """The link works again."""
        _call("ip", "-n", self._space, "link", "set", self._far, "up")

    def close(self) -> None:
        """Remove it, and end whatever still runs in it."""
        if self._sshd is not None:
            self._sshd.terminate()
            self._sshd.wait(60)
        limit = time.monotonic() + 60
        while (left := self.processes()) and time.monotonic() < limit:  # sshd's sessions outlive it, and start others
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        for argv in (["ip", "link", "del", self._near], ["ip", "netns", "del", self._space]):
            subprocess.run(argv, capture_output=True, check=False)

    def processes(self) -> list[int]:
        """Of sshd, of its sessions, and of what they started."""
        listed = subprocess.run(["ip", "netns", "pids", self._space], capture_output=True, text=True, check=False)
        return [int(pid) for pid in listed.stdout.split()]

    def _start_sshd(self, known: Path, key: Path) -> None:
        host_key, config = self.folder / "host_key", self.folder / "sshd_config"
        _call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(host_key))
        authorized = self.folder / "authorized_keys"
        shutil.copy(key.with_name(f"{key.name}.pub"), authorized)
        config.write_text(
            f"ListenAddress {self.address}\nHostKey {host_key}\nAuthorizedKeysFile {authorized}\nPidFile none\n"
            "UsePAM no\nStrictModes no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
            f'ForceCommand HOME={self.home} exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n'
        )
        Path("/run/sshd").mkdir(exist_ok=True)
        argv = ["ip", "netns", "exec", self._space, str(_program("sshd")), "-D", "-e", "-f", str(config)]
        with (self.folder / "sshd.log").open("wb") as log:
            self._sshd = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        limit = time.monotonic() + _STARTED
        while True:
            try:
                socket.create_connection((self.address, 22), timeout=1).close()
                break
            except OSError:
                if time.monotonic() > limit or self._sshd.poll() is not None:
                    raise OSError((self.folder / "sshd.log").read_text()[-300:]) from None
                time.sleep(0.05)
        with known.open("a") as out:
            out.write(f"{self.address} {host_key.with_name('host_key.pub').read_text()}")


class Hosts:
    """Some hosts, and the home of a user who can log in to them: ``HOME`` of whoever connects."""

    def __init__(self, folder: Path, count: int) -> None:
        """Raises NoHosts."""
        if why := missing():
            raise NoHosts(why)
        self.home = folder / "user"
        ssh = self.home / ".ssh"
        ssh.mkdir(parents=True, mode=0o700)
        key = ssh / "id_ed25519"
        _call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
        (ssh / "config").write_text("Host *\n  User root\n")
        self.known = ssh / "known_hosts"
        self.known.touch()
        self.hosts: list[SshHost] = []
        try:
            for number in range(count):
                self.hosts.append(SshHost(folder / f"host-{number}", number, self.known, key))
        except NoHosts:
            self.close()
            raise

    def close(self) -> None:
        for host in self.hosts:
            host.close()


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


def _call(*argv: str) -> None:
    subprocess.run([_program(argv[0]) or argv[0], *argv[1:]], check=True, capture_output=True)
