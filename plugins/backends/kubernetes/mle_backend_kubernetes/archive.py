"""A job's files, packed for ``stage``: in a ConfigMap if they are small, else on the job's claim."""

from __future__ import annotations

import base64
import io
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO

import mlecore
from mle_backend_kubernetes.manifests import STDIN
from mlecore.backends import Job
from mlecore.errors import BackendError

IN_MEMORY = 16 * 1024 * 1024
SMALL = 700_000  # bytes; a ConfigMap holds 1 MiB, encoded


@cache
def programs(with_relay: bool = False) -> dict[str, bytes]:
    """What helper pods run, by file name."""
    relay = Path(mlecore.__file__).with_name("relay.py")
    return {"helper.pyz": program(), **({relay.name: relay.read_bytes()} if with_relay else {})}


@cache
def program() -> bytes:
    """The package ``program`` as one file that Python runs."""
    ours, core = Path(__file__).parent, Path(mlecore.__file__).parent
    files = {f"{ours.name}/program/{path.name}": path for path in sorted((ours / "program").glob("*.py"))}
    shared = ("globs.py", "sandbox/confining.py", "sandbox/hardware.py", "sandbox/seccomp.py")
    files |= {f"{core.name}/{name}": core / name for name in shared}
    files["__main__.py"] = ours / "program" / "__main__.py"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, path in files.items():
            packed.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
        for package in (ours.name, core.name, f"{core.name}/sandbox"):
            packed.writestr(zipfile.ZipInfo(f"{package}/__init__.py"), "")
    return out.getvalue()


def inline() -> list[dict[str, str]]:
    """The variable that ``manifests.inline_command`` runs."""
    return [{"name": "HELPER", "value": base64.b64encode(program()).decode()}]


def pack(job: Job) -> tuple[IO[bytes], dict[str, str]]:
    """A packed archive of home and tools, and the tools that stage finds among the public data instead."""
    from_data: dict[str, str] = {}
    out = _begin()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as tar:
        for name, content in job.tools.items():
            inside = _among(content, job.dataset.public)
            if inside is None:
                _add(tar, f"tools/{_inside(name)}", content)
            else:
                from_data[_inside(name)] = inside
        if job.stdin:
            _add(tar, f"tools/{STDIN}", job.stdin)
        for name, content in job.files.items():
            _add(tar, f"home/{_inside(name)}", content)
    out.seek(0)
    return out, from_data


def _begin() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(IN_MEMORY)


def _among(content: bytes | Path, public: Path) -> str | None:
    """The path of a file among the public data, which need not be sent again."""
    if isinstance(content, Path):
        path, root = content.resolve(), public.resolve()
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return None


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] == "data":
        raise BackendError(f"a file of the run cannot be put at {name!r}: it must lie below home, outside data/")
    return str(path)


def _add(tar: tarfile.TarFile, name: str, content: bytes | Path) -> None:
    info = tarfile.TarInfo(name)
    if isinstance(content, Path):
        with content.open("rb") as source:
            stat = content.stat()
            info.size = stat.st_size
            script = source.read(2) == b"#!"
            source.seek(0)
            info.mode = 0o755 if script or stat.st_mode & 0o111 else 0o644
            tar.addfile(info, source)
        return
    info.size = len(content)
    info.mode = 0o755 if content.startswith(b"#!") else 0o644
    tar.addfile(info, io.BytesIO(content))
