"""Dolos itself: an npm package, installed into a cache folder when it is first needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

from mlecore.errors import DataError, UsageError
from mlecore.util import files
from mlecore.util.child_environment import NPM, PROXIES, child_environment

VERSION = "3.5.1"  # of @dodona/dolos-lib
_SECONDS = 1800
_FLAGS = {"CFLAGS": "-O1", "CXXFLAGS": "-O1"}  # parsers are large tables, which take compilers minutes otherwise


def cache_folder() -> Path:
    """MLECORE_DOLOS, or a folder of its own among the user's caches."""
    if given := os.environ.get("MLECORE_DOLOS"):
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("mlecore-dolos", appauthor=False)


def installed() -> Path:
    """The folder in which Node finds Dolos. Raises UsageError, DataError."""
    cache = cache_folder()
    folder = cache / f"dolos-{VERSION}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / ".install.lock"):
        if not folder.is_dir():
            _install(cache, folder)
    return folder


def _install(cache: Path, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise UsageError("npm is not on PATH; it installs Dolos", fix="Install Node with npm.")
    print(f"installing Dolos {VERSION} into {folder}; this takes about 2 minutes, once", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix=".installing-", dir=cache) as name:
        (Path(name) / "package.json").write_text('{"private": true}')
        package = f"@dodona/dolos-lib@{VERSION}"
        # npm's own scripts are needed: they build the parsers where there is no finished one
        argv = [npm, "install", package, "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"]
        try:
            done = subprocess.run(
                argv,
                cwd=name,
                env={**child_environment(*NPM, *PROXIES), **_FLAGS},
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DataError(f"npm did not install {package} within {_SECONDS} s", fix="Try again.") from None
        if done.returncode:
            raise DataError(f"npm cannot install {package}: {done.stderr.strip()[-500:]}", fix="See npm's message.")
        files.rename(Path(name), folder)
        Path(name).mkdir()  # for the context to remove
