"""Makes a package that was just written usable: installed into the running environment, from its folder."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from mlecore.errors import MlecoreError
from mlecore.util.child_environment import PIP, PROXIES, child_environment
from mlecore_sandboxes.installing import find_uv
from mlecore_testing.scaffold.command import installer


def install(folder: Path) -> None:
    """Editable, without other packages: this environment has them. Raises MlecoreError with the command to run."""
    uv = find_uv()
    words = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    words += ["--quiet", "--no-deps", "--editable", str(folder)]
    try:
        done = subprocess.run(
            words, env=child_environment(*PIP, *PROXIES), capture_output=True, text=True, errors="replace", check=False
        )
        why = "" if done.returncode == 0 else (done.stderr or done.stdout).strip()[-2000:]
    except OSError as error:
        why = str(error)
    if why:
        raise MlecoreError(
            f"{folder} was written, but could not be installed: {why}",
            fix=f"Install it, then prepare and audit it: {shlex.join([*installer(), 'install', '-e', str(folder)])}",
        )


def mlecore(*words: str) -> int:
    """Run mlecore in a new process, which finds the new package; returns its exit code."""
    sys.stdout.flush()
    return subprocess.run(
        [sys.executable, "-m", "mlecore.cli", *words], env=child_environment(), check=False
    ).returncode
