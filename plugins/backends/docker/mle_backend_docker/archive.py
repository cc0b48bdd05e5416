"""What goes into a container before it starts: tar archives, made on disk when they are large."""

from __future__ import annotations

import io
import shlex
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from mlecore.backends import Job
from mlecore.errors import BackendError

IN_MEMORY = 16 * 1024 * 1024
FOLDERS = (".mlecore", "agent", "code", "logs", "submission")  # below home, the agent's own; home itself is root's
SECRETS = ".mlecore/secrets"
STDIN = "stdin"  # beside init


def tools_archive(job: Job) -> IO[bytes]:
    """For /opt/mlecore: everything root's, readable for all."""
    out = _begin()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in job.tools.items():
            _add(tar, _inside(name), content, owner=(0, 0))
        if job.stdin:
            _add(tar, STDIN, job.stdin, owner=(0, 0))
    out.seek(0)
    return out


def home_archive(job: Job, owner: tuple[int, int], secrets: Mapping[str, str]) -> IO[bytes]:
    """For /home: everything the agent's, the values of secrets for nobody but it."""
    out = _begin()
    with tarfile.open(fileobj=out, mode="w") as tar:
        files = {_inside(name): content for name, content in job.files.items()}
        folders = {str(parent) for name in files for parent in PurePosixPath(name).parents} - {"."}
        for folder in sorted({*FOLDERS, *folders}):
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            info.uid, info.gid = owner
            tar.addfile(info)
        for name, content in files.items():
            _add(tar, name, content, owner)
        if secrets:
            lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in secrets.items())
            _add(tar, SECRETS, lines.encode(), owner, mode=0o400)
    out.seek(0)
    return out


def _begin() -> IO[bytes]:
    return tempfile.SpooledTemporaryFile(IN_MEMORY)


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] == "data":
        raise BackendError(f"a file of the run cannot be put at {name!r}: it must lie below home, outside data/")
    return str(path)


def _add(
    tar: tarfile.TarFile, name: str, content: bytes | Path, owner: tuple[int, int], mode: int | None = None
) -> None:
    info = tarfile.TarInfo(name)
    info.uid, info.gid = owner
    if isinstance(content, Path):
        with content.open("rb") as source:
            stat = content.stat()
            info.size = stat.st_size
            script = source.read(2) == b"#!"
            source.seek(0)
            info.mode = mode or (0o755 if script or stat.st_mode & 0o111 else 0o644)
            tar.addfile(info, source)
        return
    info.size = len(content)
    info.mode = mode or (0o755 if content.startswith(b"#!") else 0o644)
    tar.addfile(info, io.BytesIO(content))
