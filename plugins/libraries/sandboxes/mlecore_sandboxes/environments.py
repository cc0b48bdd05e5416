"""From a recipe to an environment: a folder of pip and npm packages and files, built once.

It is stored by recipe, interpreter and platform; its digest is that of what was installed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from uuid import uuid4

from mlecore.errors import BackendError, ImageGone
from mlecore.model.agents import Recipe
from mlecore.model.backends import CachedImage, Image
from mlecore.util.child_environment import child_environment
from mlecore.util.files import remove, replace
from mlecore_jobs.supervise.files import SPEC, read_json
from mlecore_jobs.supervise.spec import read_spec
from mlecore_sandboxes import folders
from mlecore_sandboxes.installing import (
    LOCK,
    Installer,
    find_uv,
    node_folders,
    node_prefix,
    npm_packages,
    read_installed,
)
from mlecore_sandboxes.pythons import Python, base_python, find_python, fits, own_python
from mlecore_sandboxes.view import Isolation

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_FIXED = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/dev", "/sys", "/home", "/tmp", "/opt/mlecore")


def build(recipe: Recipe, root: Path, log: Path, isolation: Isolation = "bubblewrap") -> Image:
    """See ``Backend.build``. Installers run in sandboxes of ``isolation``."""
    if recipe.image is not None:
        raise BackendError(f"backend vm starts no images ({recipe.image})", fix="Use the backend docker.")
    if missing := missing_programs(recipe):
        how = f" (apt-get install {' '.join(recipe.apt)})" if recipe.apt else ""
        raise BackendError(
            f"not installed on this machine, and backend vm installs no programs: {', '.join(missing)}",
            fix=f"Install them{how}, or use the backend docker.",
        )
    for path in recipe.files:
        if not path.startswith("/") or any(PurePosixPath(path).is_relative_to(fixed) for fixed in _FIXED):
            raise BackendError(f"backend vm cannot put a file at {path}", fix="Use the backend docker.")
    _plain_python(root)
    python = own_python(base_python()) if fits(recipe.python) else find_python(recipe.python or "", find_uv())
    if not (recipe.pip or recipe.pip_alone or recipe.npm or recipe.files or recipe.python):
        return Image(ref="", digest=_digest(_machine(python)), installed=_machine(python))
    key = _digest((recipe.digest(), python.program, *_machine(python)))
    target = root / "envs" / key
    folders.make_private(target.parent)
    return built_once(target, lambda: _make(recipe, python, target, root, log, isolation))


def built_once(target: Path, make: Callable[[], Mapping[str, object]]) -> Image:
    """Have ``make`` fill the folder ``target``, unless it is complete; its manifest is what that returns."""
    with locked(target, fcntl.LOCK_EX):
        if not is_complete(target):
            manifest(target).unlink(missing_ok=True)
            folders.erase(target)  # of an interrupted build
            target.mkdir()
            target.chmod(0o755)  # whatever our umask is; below, too
            try:
                replace(manifest(target), json.dumps(make()).encode())
            except BaseException:
                folders.erase(target)
                raise
    contents = json.loads(manifest(target).read_text())
    return Image(ref=str(target), digest=contents["digest"], installed=tuple(contents["installed"]))


@contextmanager
def locked(target: Path, how: int) -> Iterator[None]:
    """Keep others from making or removing an environment. With LOCK_NB, raises BlockingIOError if somebody is at it."""
    with target.with_name(f"{target.name}.lock").open("a") as lock:
        fcntl.flock(lock, how)
        yield


@contextmanager
def kept(ref: str) -> Iterator[None]:
    """Nobody removes an environment until the job's folder says that it is needed. Raises ImageGone."""
    if not ref:
        yield
        return
    gone = ImageGone(f"the environment {ref} is no longer there")
    if not Path(ref).parent.is_dir():
        raise gone
    with locked(Path(ref), fcntl.LOCK_SH):
        if not is_complete(Path(ref)):
            raise gone
        yield


def _machine(python: Python) -> tuple[str, ...]:
    """What packages are installed for: the interpreter and the platform."""
    return python.version, f"{platform.system()} {platform.machine()} {' '.join(platform.libc_ver())}".strip()


def _digest(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _installed(target: Path) -> dict[str, str]:
    """Packages with their resolved versions -> a digest of their files, the same wherever the environment lies."""
    out = {}
    for path in sorted(target.glob("lib/python*/site-packages/*.dist-info/RECORD")):
        # what installed it, from where
        own = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
        rows = (line.rpartition(",")[0] for line in read_installed(target, path).splitlines())
        kept = [row for row in rows if not row.startswith("..") and ".pyc," not in row]  # scripts contain their folder
        kept = [
            row for row in kept if not row.partition(",")[0].startswith(tuple(f"{path.parent.name}/{n}" for n in own))
        ]
        name, _, version = path.parent.name.removesuffix(".dist-info").rpartition("-")
        out[f"{name}=={version}"] = _digest(sorted(kept))
    if os.path.lexists(target / LOCK):
        for where, package in sorted(npm_packages(target).items()):
            out[f"{where.removeprefix('node_modules/')}@{package.get('version')}"] = str(package.get("integrity"))
    return out


def missing_programs(recipe: Recipe) -> list[str]:
    """What the recipe needs from apt or on PATH and this machine lacks."""
    path = f"{_SYSTEM_PATH}:{Path(base_python()).parent}"
    missing = [name for name in recipe.programs if shutil.which(name, path=path) is None and shutil.which(name) is None]
    if recipe.apt and shutil.which("dpkg-query"):
        argv = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *recipe.apt]
        done = subprocess.run(argv, env=child_environment(), capture_output=True, text=True, check=False)
        there = {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")}
        missing += [name for name in recipe.apt if name not in there]
    if recipe.npm and node_prefix() is None:
        missing.append("npm")
    return list(dict.fromkeys(missing))


def _make(
    recipe: Recipe, python: Python, target: Path, root: Path, log: Path, isolation: Isolation
) -> dict[str, object]:
    """At its final path, since environments know theirs. Returns its manifest."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as out:
        Installer(python, target, root, log, out, isolation).install(recipe)
    remove(target / "files")  # a package may have put something else there
    for number, path in enumerate(sorted(recipe.files)):
        content = recipe.files[path]
        file = target / "files" / str(number)
        file.parent.mkdir(exist_ok=True)
        file.parent.chmod(0o755)
        file.write_bytes(content)
        file.chmod(0o755 if content.startswith(b"#!") else 0o644)
    packages = _installed(target)
    files = [(path, hashlib.sha256(recipe.files[path]).hexdigest()) for path in sorted(recipe.files)]
    return {
        "asked": [*recipe.pip, *recipe.pip_alone, *recipe.npm],
        "files": sorted(recipe.files),
        "npm": recipe.npm,
        "prefix": str(python.prefix),
        "installed": [*_machine(python), *packages],
        "digest": _digest((_machine(python), packages, files)),
    }


def is_complete(target: Path) -> bool:
    """Was an environment built to its end, and is it still there?"""
    return target.is_dir() and manifest(target).is_file()


def manifest(target: Path) -> Path:
    """What is in an environment. It lies beside its folder, where no package can write it."""
    return target.with_name(f"{target.name}.json")


def _plain_python(root: Path) -> Path:
    """A folder with only ``python`` and ``python3``, for jobs without packages.

    One for each interpreter, and never changed: running jobs may use it.
    """
    folder = _plain_folder(root)
    folder.parent.mkdir(exist_ok=True)
    folder.parent.chmod(0o755)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    for name in ("python", "python3"):
        link = folder / name
        if not link.is_symlink() or str(link.readlink()) != base_python():
            fresh = folder / f".{uuid4().hex}"
            fresh.symlink_to(base_python())
            fresh.replace(link)
    return folder


def _plain_folder(root: Path) -> Path:
    return root / "python" / _digest((base_python(),))[:16]


def binds(ref: str, root: Path) -> list[Path]:
    """Folders that a job of this image must see, besides the system's."""
    out = [Path(sys.base_prefix).resolve(), _plain_folder(root)]
    if ref and image(ref) is None:
        out.append(Path(ref))
        contents = json.loads(manifest(Path(ref)).read_text())
        out += [prefix for prefix in (Path(contents["prefix"]),) if prefix not in out]
        out += node_folders() if contents["npm"] else []
    return out


def files(ref: str) -> Mapping[PurePosixPath, Path]:
    """The recipe's files: where they belong -> where they lie."""
    if not ref or image(ref) is not None:
        return {}
    contents = json.loads(manifest(Path(ref)).read_text())
    return {PurePosixPath(path): Path(ref) / "files" / str(number) for number, path in enumerate(contents["files"])}


def image(ref: str) -> Path | None:
    """The finished image that it stands for, as a file for Apptainer; None: it is an environment."""
    found = (read_json(str(manifest(Path(ref)))) or {}).get("image") if ref else None
    return Path(found) if found else None


def search_path(ref: str, root: Path) -> str:
    """PATH of a job: the environment, the system, and last the Python that runs mlecore, by itself."""
    own = [f"{ref}/bin", f"{ref}/node_modules/.bin"] if ref else []
    if ref and (node := shutil.which("node")) and not node.startswith("/usr/"):
        own.append(str(Path(node).resolve().parent))
    return ":".join([*own, _SYSTEM_PATH, str(_plain_folder(root))])


def built(root: Path) -> list[CachedImage]:
    """All environments below ``root``, newest first. Files that are links into uv's cache are not in their size."""
    used = _used(root)
    found = [
        CachedImage(
            ref=str(folder),
            name=folder.name[:12],
            size=_size(folder),
            created=manifest(folder).stat().st_mtime,
            about=_about(folder),
            used=str(folder) in used,
        )
        for folder in _folders(root)
        if manifest(folder).is_file()
    ]
    return sorted(found, key=lambda each: -each.created)


def prune(root: Path, chosen: Sequence[CachedImage]) -> tuple[list[CachedImage], int]:
    """See ``Backend.prune``."""
    wanted = {each.ref: each for each in chosen}
    removed, freed = [], 0
    for folder in _folders(root):
        if str(folder) in wanted or not manifest(folder).is_file():  # or its build was interrupted
            size = _discard(folder, root)
            if size is not None:
                removed += [wanted[str(folder)]] if str(folder) in wanted else []
                freed += size
    return removed, freed


def _discard(folder: Path, root: Path) -> int | None:
    """The bytes freed; None if somebody builds or uses it."""
    try:
        with locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
            if str(folder) in _used(root):
                return None
            size = _size(folder)
            manifest(folder).unlink(missing_ok=True)  # first: half an environment is none
            folders.erase(folder)
            return size
    except BlockingIOError:
        return None


def _folders(root: Path) -> Iterator[Path]:
    return (path for path in sorted((root / "envs").glob("*")) if path.is_dir() and not path.is_symlink())


def _used(root: Path) -> set[str]:
    """Environments of jobs that are still there."""
    specs = (read_spec(str(path.parent)) for path in folders.jobs(root).glob(f"*/{SPEC}"))
    return {spec.image for spec in specs if spec}


def _size(folder: Path) -> int:
    """Bytes on disk that only this folder takes."""
    found = (Path(path, name).lstat() for path, _, names in os.walk(folder) for name in ("", *names))
    return sum(status.st_blocks * 512 for status in found if status.st_nlink == 1 or stat.S_ISDIR(status.st_mode))


def _about(folder: Path) -> str:
    """Its interpreter and what was asked for; an older version of mlecore noted less."""
    contents = read_json(str(manifest(folder))) or {}
    return ", ".join([*contents.get("installed", ())[:1], *contents.get("asked", ()), *contents.get("files", ())])
