"""What works on Windows imports nothing that only POSIX has; tried on any system, in a process that hides all that."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from mlecore.child_environment import child_environment

HIDE = """
import importlib, os, select, signal, socket, sys

OURS = ("mlecore", "mle_")
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}
NAMES = {
    os: "O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK fchmod fork getegid geteuid getgid getpgid getuid"
    " killpg mkfifo pread pwrite sched_getaffinity setsid statvfs sync sysconf uname",
    signal: "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 alarm",
    select: "poll epoll",
    socket: "AF_UNIX",
}

class Windows:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"Windows has no module {name}")

def import_all():
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"

# Once as it is: the standard library and other packages know what system they are on, and are kept.
names = sys.stdin.read().split()
list(import_all())
for name in [name for name in sys.modules if name.startswith(OURS) or name in MODULES]:
    del sys.modules[name]
for module, hidden in NAMES.items():
    for name in hidden.split():
        vars(module).pop(name, None)
sys.meta_path.insert(0, Windows())
sys.platform = "win32"
print("\\n".join(import_all()))
"""


def modules(package: str) -> Iterator[str]:
    yield package
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        yield module.name


def without_posix(names: list[str]) -> list[str]:
    """What goes wrong when these modules are imported."""
    command = [sys.executable, "-c", HIDE]
    done = subprocess.run(command, input="\n".join(names), env=child_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


@pytest.mark.slow
def test_nothing_of_posix_is_imported() -> None:
    names = [name for package in ("mlecore", "mle_ext_view", "mle_lib_pages") for name in modules(package)]
    names = [name for name in names if name != "mlecore.processes.posix" and "__main__" not in name]
    assert without_posix(names) == [""]


def test_a_stray_import_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mle_stray.py").write_text("import os, fcntl\n")
    (tmp_path / "mle_stray_flag.py").write_text("import os\nFLAGS = os.O_RDONLY | os.O_NOFOLLOW\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = without_posix(["mle_stray", "mle_stray_flag", "mlecore.workers", "mlecore.data.preparing"])
    assert [line.partition(":")[0] for line in found] == ["mle_stray", "mle_stray_flag"]
