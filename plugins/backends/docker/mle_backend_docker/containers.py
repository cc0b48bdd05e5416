"""What the backends docker and kubernetes share: options, the files of a job, and how an end is told."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from mlecore.errors import BackendError, UsageError
from mlecore.options import pairs, words


def read_user(text: str) -> tuple[int, int]:
    """``UID`` or ``UID:GID``. Raises UsageError."""
    uid, _, gid = text.partition(":")
    if not uid.isdigit() or not (gid or "0").isdigit() or int(uid) == 0:
        raise UsageError("expected UID or UID:GID, and not root's 0")
    return int(uid), int(gid or uid)


def read_labels(text: str) -> Mapping[str, str]:
    """``name=value,name=value``, or a table as JSON. Raises UsageError."""
    if text.startswith("{"):
        return {name: str(value) for name, value in json.loads(text).items()}
    return pairs(words(text), "labels:")


def below_home(name: str) -> str:
    """The path of a file of a job below home. Raises BackendError for one that leads elsewhere."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] == "data":
        raise BackendError(f"a file of the run cannot be put at {name!r}: it must lie below home, outside data/")
    return str(path)


def add(tar: tarfile.TarFile, name: str, content: bytes | Path, uid: int = 0, gid: int = 0, mode: int = 0) -> None:
    """Add a file to an archive; without ``mode`` it is executable as ``Job`` says."""
    info = tarfile.TarInfo(name)
    info.uid, info.gid = uid, gid
    with content.open("rb") if isinstance(content, Path) else io.BytesIO(content) as source:
        info.size = source.seek(0, 2)
        source.seek(0)
        executable = source.read(2) == b"#!" or (isinstance(content, Path) and content.stat().st_mode & 0o111)
        info.mode = mode or (0o755 if executable else 0o644)
        source.seek(0)
        tar.addfile(info, source)
