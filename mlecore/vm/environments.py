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
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from uuid import uuid4

from mlecore.agents import Recipe
from mlecore.backends import Image
from mlecore.errors import BackendError
from mlecore.mirrors import mirrors
from mlecore.vm import folders
from mlecore.vm.pythons import Python, find_python, fits, own_python

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_FIXED = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/dev", "/sys", "/home", "/tmp", "/opt/mlecore")
_MIRRORS = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_TRUSTED_HOST": "UV_INSECURE_HOST",
    "PIP_CERT": "SSL_CERT_FILE",
}
_END = 2000  # characters of a failed build's log that its error shows


def build(recipe: Recipe, root: Path, log: Path) -> Image:
    """See ``Backend.build``."""
    if recipe.image is not None:
        raise BackendError(f"backend vm starts no images ({recipe.image})", fix="Use the backend docker.")
    if missing := missing_programs(recipe):
        raise BackendError(
            f"not installed on this machine, and backend vm installs no programs: {', '.join(missing)}",
            fix=f"Install them (apt-get install {' '.join(recipe.apt) or '...'}), or use the backend docker.",
        )
    for path in recipe.files:
        if not path.startswith("/") or any(PurePosixPath(path).is_relative_to(fixed) for fixed in _FIXED):
            raise BackendError(f"backend vm cannot put a file at {path}", fix="Use the backend docker.")
    _plain_python(root)
    python = own_python(base_python()) if fits(recipe.python) else find_python(recipe.python or "", _uv())
    if not (recipe.pip or recipe.pip_alone or recipe.npm or recipe.files or recipe.python):
        return Image(ref="", digest=_digest(_machine(python)), installed=_machine(python))
    key = _digest((recipe.digest(), python.program, *_machine(python)))
    target = root / "envs" / key
    folders.make_private(target.parent)
    with locked(target, fcntl.LOCK_EX):
        if not (target / "made.json").exists():
            folders.erase(target)  # of an interrupted build
            target.mkdir()
            target.chmod(0o755)  # whatever our umask is; below, too
            try:
                _make(recipe, python, target, log)
            except BaseException:
                folders.erase(target)
                raise
    made = json.loads((target / "made.json").read_text())
    return Image(ref=str(target), digest=made["digest"], installed=tuple(made["installed"]))


@contextmanager
def locked(target: Path, how: int) -> Iterator[None]:
    """Keep others from making or removing an environment. With LOCK_NB, raises BlockingIOError if somebody is at it."""
    with target.with_name(f"{target.name}.lock").open("a") as lock:
        fcntl.flock(lock, how)
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
        rows = (line.rpartition(",")[0] for line in path.read_text(encoding="utf-8").splitlines())
        kept = [row for row in rows if not row.startswith("..") and ".pyc," not in row]  # scripts contain their folder
        kept = [
            row for row in kept if not row.partition(",")[0].startswith(tuple(f"{path.parent.name}/{n}" for n in own))
        ]
        name, _, version = path.parent.name.removesuffix(".dist-info").rpartition("-")
        out[f"{name}=={version}"] = _digest(sorted(kept))
    lock = target / "node_modules/.package-lock.json"
    if lock.exists():
        for where, package in sorted(json.loads(lock.read_text())["packages"].items()):
            out[f"{where.removeprefix('node_modules/')}@{package.get('version')}"] = str(package.get("integrity"))
    return out


def missing_programs(recipe: Recipe) -> list[str]:
    """What the recipe needs from apt or on PATH and this machine lacks."""
    path = f"{_SYSTEM_PATH}:{Path(base_python()).parent}"
    missing = [name for name in recipe.programs if shutil.which(name, path=path) is None and shutil.which(name) is None]
    if recipe.apt and shutil.which("dpkg-query"):
        argv = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *recipe.apt]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        there = {line.split()[0] for line in done.stdout.splitlines() if line.endswith(" installed")}
        missing += [name for name in recipe.apt if name not in there]
    if recipe.npm and node_prefix() is None:
        missing.append("npm")
    return list(dict.fromkeys(missing))


def _make(recipe: Recipe, python: Python, target: Path, log: Path) -> None:
    """At its final path, since environments know theirs; ``made.json`` is written last and marks it complete."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as out:
        if recipe.pip or recipe.pip_alone or recipe.python:
            for argv, lines in _pip_steps(recipe, python, target):
                _step(argv, out.fileno(), log, lines)
            _compile(target, out.fileno())
        if recipe.npm:
            argv = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(target), *recipe.npm]
            _step(argv, out.fileno(), log)
    for number, path in enumerate(sorted(recipe.files)):
        content = recipe.files[path]
        file = target / "files" / str(number)
        file.parent.mkdir(exist_ok=True)
        file.parent.chmod(0o755)
        file.write_bytes(content)
        file.chmod(0o755 if content.startswith(b"#!") else 0o644)
    marker = target / f".{uuid4().hex}"
    packages = _installed(target)
    files = [(path, hashlib.sha256(recipe.files[path]).hexdigest()) for path in sorted(recipe.files)]
    made = {
        "asked": [*recipe.pip, *recipe.pip_alone, *recipe.npm],
        "files": sorted(recipe.files),
        "npm": recipe.npm,
        "prefix": str(python.prefix),
        "installed": [*_machine(python), *packages],
        "digest": _digest((_machine(python), packages, files)),
    }
    marker.write_text(json.dumps(made))
    marker.replace(target / "made.json")


def _pip_steps(recipe: Recipe, python: Python, target: Path) -> Iterator[tuple[list[str], Sequence[str]]]:
    """The commands that make an environment with the recipe's packages, each with the lines that it reads."""
    uv, inside = _uv(), str(target / "bin" / "python")
    if uv is not None:
        yield [uv, "venv", "--quiet", "--allow-existing", "--python", python.program, str(target)], ()
        install = [uv, "pip", "install", "--python", inside]
    else:
        yield [python.program, "-m", "venv", str(target)], ()
        install = [inside, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]
    if recipe.pip:
        yield [*install, "-r", "/dev/stdin"], recipe.pip
    if recipe.pip_alone:
        yield [*install, "--no-deps", "-r", "/dev/stdin"], recipe.pip_alone


def _compile(target: Path, out: int) -> None:
    """Compile all but the packages' own tests, half of their code, which no run imports.

    Now, because the environment is read-only in the sandbox, where every run would compile it again. Files that this
    version of Python cannot compile, such as templates, are skipped.
    """
    argv = [str(target / "bin" / "python"), "-m", "compileall", "-q", "-j", "0", "-x", r"/site-packages/.*/tests/"]
    _run([*argv, str(target / "lib")], out)


def _step(argv: Sequence[str], out: int, log: Path, lines: Sequence[str] = ()) -> None:
    if _run(argv, out, lines) != 0:
        end = log.read_text(encoding="utf-8", errors="replace")[-_END:]
        raise BackendError(f"the environment could not be built; its log ({log}) ends with:\n{end}")


def _run(argv: Sequence[str], out: int, lines: Sequence[str] = ()) -> int:
    """The exit code of a program that reads lines and writes to ``out``. Raises BackendError if it cannot start."""
    given = "".join(f"{line}\n" for line in lines).encode()
    os.write(out, f"$ {' '.join(argv)}\n".encode() + given)
    env = _environment(os.environ)
    try:
        return subprocess.run(
            argv, input=given, stdout=out, stderr=subprocess.STDOUT, env=env, check=False, umask=0o022
        ).returncode
    except OSError as error:
        raise BackendError(f"cannot run {argv[0]}: {error}") from None


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Variables of what installs: pip's settings of mirrors count for uv too, unless uv has its own."""
    env = {**mirrors(given), **given}
    env = {key: value for key, value in env.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")}
    if "UV_INDEX_URL" in env:  # its older name for the same
        return env
    return {uv: env[pip] for pip, uv in _MIRRORS.items() if pip in env} | env


def _uv() -> str | None:
    beside = [Path(sys.executable).parent, Path(sys.prefix).parent / ".tools" / "bin"]
    return shutil.which("uv") or next((str(path / "uv") for path in beside if (path / "uv").exists()), None)


def base_python() -> str:
    """The interpreter that environments are made with: the one that runs mlecore, outside its own environment."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def node_prefix() -> Path | None:
    """Where Node.js lies."""
    found = shutil.which("npm")
    return None if found is None else Path(found).resolve().parents[1]


def _plain_python(root: Path) -> Path:
    """A folder with only ``python`` and ``python3``, for jobs without packages.

    One for each interpreter, and never changed: jobs at work may use it.
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
    if ref:
        out.append(Path(ref))
        made = json.loads((Path(ref) / "made.json").read_text())
        out += [prefix for prefix in (Path(made["prefix"]),) if prefix not in out]
        prefix = node_prefix() if made["npm"] else None
        if prefix is not None:
            node = Path(shutil.which("node") or "/usr/bin/node").resolve().parents[1]
            out += [path for path in (prefix, node) if not path.is_relative_to("/usr")]
    return out


def files(ref: str) -> Mapping[PurePosixPath, Path]:
    """The recipe's files: where they belong -> where they lie."""
    if not ref:
        return {}
    made = json.loads((Path(ref) / "made.json").read_text())
    return {PurePosixPath(path): Path(ref) / "files" / str(number) for number, path in enumerate(made["files"])}


def search_path(ref: str, root: Path) -> str:
    """PATH of a job: the environment, the system, and last the Python that runs mlecore, by itself."""
    own = [f"{ref}/bin", f"{ref}/node_modules/.bin"] if ref else []
    if ref and (node := shutil.which("node")) and not node.startswith("/usr/"):
        own.append(str(Path(node).resolve().parent))
    return ":".join([*own, _SYSTEM_PATH, str(_plain_folder(root))])
