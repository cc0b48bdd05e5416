"""A recipe's packages, installed into the folder of its environment in as many steps as keys and code need.

Passwords of mirrors and the cache that builds share are for steps that run no code of packages, wherever that is
possible. Where it is not (source distributions, and packages that are installed beside others), the step has a cache
of its own, and the code can read the address of the index.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from attrs import frozen

from mlecore.errors import BackendError, DataError
from mlecore.model.agents import Recipe
from mlecore.util.child_environment import NPM, PIP
from mlecore.util.regular import read_regular
from mlecore_sandboxes import folders
from mlecore_sandboxes.building import Step, run
from mlecore_sandboxes.pythons import Python
from mlecore_sandboxes.view import Isolation

LOCK = "node_modules/.package-lock.json"
_END = 2000  # characters of a failed build's log that its error shows
_LARGEST = 64 << 20  # bytes of a list of installed files


@frozen
class Installer:
    """Installs into one environment, and writes to the log of its build."""

    python: Python
    target: Path
    root: Path  # of the backend's state
    log: Path
    out: TextIO  # the log, opened
    isolation: Isolation

    def install(self, recipe: Recipe) -> None:
        """Raises BackendError."""
        if self.isolation == "none":
            self._say("without a sandbox: what is installed can read and change all that you can")
        if recipe.pip or recipe.pip_alone or recipe.python:
            self._new_environment()
            if recipe.pip:
                self._pip(recipe.pip)
            if recipe.pip_alone:  # its interpreter runs code of the packages above
                self._must(self._pip_step(recipe.pip_alone, "--no-deps", runs_code=True))
            self._run(self._compiling())
        if recipe.npm:
            self._must(self._npm_step("install", "--ignore-scripts", *recipe.npm, settings=NPM))
            if any(package.get("hasInstallScript") for package in npm_packages(self.target).values()):
                self._must(self._npm_step("rebuild", runs_code=True))

    def _pip(self, packages: Sequence[str]) -> None:
        """Wheels only, if that works: unpacking them runs nothing."""
        if self.isolation != "none" and find_uv():
            if self._run(self._pip_step(packages, "--no-build")):
                return
            self._say("again with source distributions, whose code runs, and with a separate cache")
            folders.erase(self.target)
            self._new_environment()
        self._must(self._pip_step(packages, runs_code=True))

    def _new_environment(self) -> None:
        self.target.mkdir(exist_ok=True)
        self.target.chmod(0o755)  # whatever our umask is
        uv, target = find_uv(), str(self.target)
        if uv is not None:
            argv = [uv, "venv", "--quiet", "--allow-existing", "--python", self.python.program, target]
        else:
            argv = [self.python.program, "-m", "venv", target]
        self._must(Step(argv=argv, writes=self.target, reads=self._reads, network=False))

    def _pip_step(self, packages: Sequence[str], *options: str, runs_code: bool = False) -> Step:
        uv, inside = find_uv(), str(self.target / "bin" / "python")
        if uv is not None:
            argv = [uv, "pip", "install", "--python", inside]
        else:
            argv = [inside, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]
        return Step(
            argv=[*argv, *options, "-r", "/dev/stdin"],
            lines=packages,
            writes=self.target,
            reads=self._reads,
            settings=PIP,
            runs_code=runs_code,
        )

    @property
    def _reads(self) -> list[Path]:
        uv = find_uv()
        return [self.python.prefix, *([Path(uv)] if uv else [])]

    def _compiling(self) -> Step:
        """Compile all but the packages' own tests, half of their code, which no run imports.

        Now, because the environment is read-only in the sandbox, where every run would compile it again. Files that
        this version of Python cannot compile, such as templates, are skipped. ``-S``: what packages would have Python
        do when it starts stays undone.
        """
        argv = [self.python.program, "-I", "-S", "-m", "compileall", "-q", "-j", "0", "-x", r"/site-packages/.*/tests/"]
        library = str(self.target / "lib")
        return Step(argv=[*argv, library], writes=self.target, reads=[self.python.prefix], network=False)

    def _npm_step(self, command: str, *words: str, settings: tuple[str, ...] = (), runs_code: bool = False) -> Step:
        argv = ["npm", command, "--no-audit", "--no-fund", "--no-update-notifier", "--prefix", str(self.target), *words]
        return Step(argv=argv, writes=self.target, reads=node_folders(), settings=settings, runs_code=runs_code)

    def _run(self, step: Step) -> bool:
        return run(step, self.root, self.out.fileno(), self.isolation) == 0

    def _must(self, step: Step) -> None:
        if not self._run(step):
            end = self.log.read_text(encoding="utf-8", errors="replace")[-_END:]
            raise BackendError(f"the environment could not be built; its log ({self.log}) ends with:\n{end}")

    def _say(self, line: str) -> None:
        print(line, file=self.out, flush=True)


def read_installed(target: Path, path: Path) -> str:
    """A file of an environment, which may be hostile. Raises BackendError."""
    try:
        return read_regular(path, _LARGEST, below=target).decode(errors="replace")
    except (OSError, DataError) as error:
        raise BackendError(f"{path}, a list of what was installed, cannot be read: {error}") from None


def npm_packages(target: Path) -> dict[str, dict[str, Any]]:
    """What npm installed, by folder. Raises BackendError."""
    try:
        packages = json.loads(read_installed(target, target / LOCK))["packages"]
        return {str(where): dict(package) for where, package in packages.items()}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BackendError(f"{target / LOCK} is not what npm writes: {error}") from None


def find_uv() -> str | None:
    """uv on PATH, beside mlecore's Python, or in the tools of a checkout."""
    beside = [Path(sys.executable).parent, Path(sys.prefix).parent / ".tools" / "bin"]
    return shutil.which("uv") or next((str(path / "uv") for path in beside if (path / "uv").exists()), None)


def node_prefix() -> Path | None:
    """Where npm lies."""
    found = shutil.which("npm")
    return None if found is None else Path(found).resolve().parents[1]


def node_folders() -> list[Path]:
    """What npm and Node.js need, where that is not among the system's programs."""
    node = shutil.which("node")
    found = [node_prefix(), Path(node).resolve().parents[1] if node else None]
    return [path for path in found if path is not None and not path.is_relative_to("/usr")]
