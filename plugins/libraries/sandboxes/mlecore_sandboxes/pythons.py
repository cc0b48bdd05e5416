"""Which Python an environment is made with: the one that runs mlecore, or another one that a recipe asks for."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mlecore.errors import BackendError
from mlecore.util.child_environment import child_environment

_ASK = """
import platform, sys
print(platform.python_implementation(), platform.python_version())
print(getattr(sys, "_base_executable", sys.executable))
print(sys.base_prefix)
"""
_NEWEST = 20  # the minor version up to which programs such as python3.13 are looked for


def base_python() -> str:
    """The interpreter that environments are made with: the one that runs mlecore, outside its own environment."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


class Python(NamedTuple):
    """An interpreter outside of any environment."""

    program: str
    version: str  # "CPython 3.13.0"
    prefix: Path  # the folder that it needs


def own_python(program: str) -> Python:
    """The one that runs mlecore, whose program is this."""
    version = f"{platform.python_implementation()} {platform.python_version()}"
    return Python(program, version, Path(sys.base_prefix).resolve())


def find_python(wanted: str, uv: str | None) -> Python:
    """An interpreter of this machine that fits a specifier such as ">=3.12". Raises BackendError if there is none."""
    for program in dict.fromkeys(_programs(wanted, uv)):
        found = _look_at(program)
        if found and _fits(found.version, wanted):
            return found
    raise BackendError(
        f"the agent needs Python {wanted}, and there is none on this machine",
        fix="Install one (uv python install, pyenv install), or use the backend docker.",
    )


def fits(wanted: str | None) -> bool:
    """Does the Python that runs mlecore fit?"""
    return wanted is None or _fits(f"- {platform.python_version()}", wanted)


def _fits(version: str, wanted: str) -> bool:
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(wanted).contains(version.split()[-1], prereleases=True)


def _programs(wanted: str, uv: str | None) -> Iterator[str]:
    """Where Pythons may be: on PATH, newest first, those that uv installed, those that pyenv installed."""
    for minor in range(_NEWEST, 8, -1):
        if found := shutil.which(f"python3.{minor}"):
            yield found
    if uv is not None:
        argv = [uv, "python", "find", "--no-project", "--no-python-downloads", wanted]
        done = subprocess.run(argv, env=child_environment("UV_*"), capture_output=True, text=True, check=False)
        if done.returncode == 0:
            yield done.stdout.strip()
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(map(str, pyenv.glob("versions/*/bin/python3")), reverse=True)


def _look_at(program: str) -> Python | None:
    """What a program is; None if it does not start, as links of version managers may not."""
    try:
        argv = [program, "-I", "-c", _ASK]
        done = subprocess.run(argv, env=child_environment(), capture_output=True, text=True, timeout=20, check=True)
        version, path, prefix = done.stdout.splitlines()
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Python(str(Path(path).resolve()), version, Path(prefix).resolve())
