"""The only ways out of a sandbox under ``llm``: the relay and the gateway beside the job, and their other ends inside.

Each listens on a Unix socket in the job's folder. A process of the relay's script enters the sandbox's network
namespace, and nothing else of the sandbox, listens on its loopback, and passes everything on to that socket: the agent
can reach it and can do nothing to it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import sys
import time
from typing import Any

from . import processes

SOCKET = "relay.sock"
LOG = "relay.jsonl"
PORT = 3128
URL = f"http://127.0.0.1:{PORT}"  # of the relay, inside
GATEWAY = "gateway.sock"
GATEWAY_PORT = 3129  # as in mlecore/backends.py
GATEWAY_URL = f"http://127.0.0.1:{GATEWAY_PORT}"
_READY = 20.0  # seconds
_NS_GET_USERNS = 0xB701
_DIE_WITH_US = ["setpriv", "--pdeathsig=KILL"]


class Relay:
    """All these processes; one that dies is started again."""

    def __init__(self, folder: str, spec: dict[str, Any], init: int, settings: str | None) -> None:
        self._folder = folder
        python = [*_DIE_WITH_US, sys.executable, "-I", "-S", spec["relay"]]
        patterns = [word for pattern in spec["allow"] for word in ("--allow", pattern)]
        net = os.open(f"/proc/{init}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self._namespaces = [net]
        enter = ["nsenter", "--preserve-credentials", f"--net=/proc/self/fd/{net}"]
        if os.geteuid() != 0:  # its owner is not the namespace of the sandbox's user, but the one above
            owner = fcntl.ioctl(net, _NS_GET_USERNS)
            self._namespaces.append(owner)
            enter.append(f"--user=/proc/self/fd/{owner}")
        self._programs = [
            (b"", [*python, "--listen", f"unix:{SOCKET}", "--log", LOG, *patterns]),
            (b"", [*enter, *python, "--listen", f"127.0.0.1:{PORT}", "--to", SOCKET]),
        ]
        if settings is not None:
            self._programs += [
                (settings.encode(), [*_DIE_WITH_US, *spec["gateway"]]),
                (b"", [*enter, *python, "--listen", f"127.0.0.1:{GATEWAY_PORT}", "--to", GATEWAY]),
            ]
        self._pids: list[int] = []

    def start(self) -> None:
        """All listen when it returns. Raises RuntimeError with what the one that failed said."""
        for given, argv in self._programs:
            pid, said = self._spawn(given, argv)
            self._pids.append(pid)
            heard = b""
            limit = time.monotonic() + _READY
            while b" on " not in heard:
                ready, _, _ = select.select([said], [], [], max(0.0, limit - time.monotonic()))
                more = os.read(said, 4096) if ready else b""
                heard += more
                if not more:
                    os.close(said)
                    self.stop()
                    raise RuntimeError(
                        f"the way out of the sandbox was not made: {heard.decode(errors='replace')[-300:].strip()}"
                    )
            os.close(said)

    def _spawn(self, given: bytes, argv: list[str], listen: bool = True) -> tuple[int, int]:
        """Its number, and the pipe on which it says that it is ready; later words go nowhere."""
        said, say = os.pipe()
        stdin = os.memfd_create("settings", os.MFD_CLOEXEC)  # on no disk
        os.write(stdin, given)
        os.lseek(stdin, 0, os.SEEK_SET)
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                null = os.open("/dev/null", os.O_RDWR)
                os.dup2(stdin, 0)
                os.dup2(null, 1)
                os.dup2(say if listen else null, 2)
                for namespace in self._namespaces:
                    os.set_inheritable(namespace, True)
                os.chdir(self._folder)
                signal.signal(signal.SIGPIPE, signal.SIG_IGN)
                os.execvpe(argv[0], argv, {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"})
            except BaseException as error:
                os.write(2, f"{argv[0]}: {error}\n".encode())
            finally:
                os._exit(126)
        os.close(say)
        os.close(stdin)
        return pid, said

    def repair(self) -> None:
        """Start again what has died."""
        for index, pid in enumerate(self._pids):
            ended = 0
            with contextlib.suppress(ChildProcessError):
                ended = os.waitpid(pid, os.WNOHANG)[0]
            if ended:
                fresh, said = self._spawn(*self._programs[index], listen=False)
                os.close(said)
                self._pids[index] = fresh

    def stop(self) -> None:
        for pid in self._pids:
            processes.send(pid, signal.SIGTERM)
        limit = time.monotonic() + 3.0
        for pid in self._pids:
            with contextlib.suppress(ChildProcessError):
                while not os.waitpid(pid, os.WNOHANG)[0]:
                    if time.monotonic() > limit:
                        processes.send(pid, signal.SIGKILL)
                    time.sleep(0.01)
        self._pids = []
        while self._namespaces:
            os.close(self._namespaces.pop())


def of(spec: dict[str, Any], folder: str, init: int, settings: str | None) -> Relay | None:
    """What a job asks for; ``settings`` are those of its gateway, if it is to have one."""
    if spec["network"] != "llm" or not spec["outer"]:
        return None
    return Relay(folder, spec, init, settings)
