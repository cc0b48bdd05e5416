"""Whether systemd-logind ends what a user started over SSH once they are logged out."""

from __future__ import annotations

import getpass
import shlex
import subprocess

from mlecore.child_environment import child_environment

_MANAGER = ("org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager")
_TIMEOUT = 5.0  # seconds that the message bus may take


def ends_at_logout(user: str = "") -> bool:
    """KillUserProcesses and its lists of users, as logind has them. False where there is no logind."""
    user = user or getpass.getuser()
    only, excluded = _asked("KillOnlyUsers")[2:], _asked("KillExcludeUsers")[2:]
    return _asked("KillUserProcesses") == ["b", "true"] and user not in excluded and (not only or user in only)


def _asked(name: str) -> list[str]:
    """A property as busctl prints it: its type, for an array its length, and its values."""
    try:
        argv = ["busctl", "get-property", *_MANAGER, name]
        done = subprocess.run(
            argv, env=child_environment(), capture_output=True, text=True, timeout=_TIMEOUT, check=True
        )
        return shlex.split(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
