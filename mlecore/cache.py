"""Small files in the user's cache folder, so that listings need not read again what has not changed.

Each has entries that somebody made from other files, and the stamps (size, times, inode) of these. A file that is
damaged or made by hand, that another mlecore wrote, or that somebody else can write to counts as empty; one that cannot
be written is no error.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from mlecore import files
from mlecore.errors import DataError

LIMIT = 64 << 20  # bytes
SETTLED = 2.0  # seconds after which a changed file has other times, also on file systems that count whole seconds
_OWN = re.compile(r"[0-9a-f]{8}\.(json|[0-9]+)")
_UNUSED = 90 * 24 * 3600.0  # seconds after which a file that nobody writes any more is removed

Stamp = list[int] | None


def cache_file(kind: str, key: str) -> Path:
    """Where entries of this kind are kept for ``key``: an environment, a folder."""
    from platformdirs import user_cache_path

    name = zlib.crc32(key.encode(errors="surrogateescape"))
    return user_cache_path("mlecore", appauthor=False) / kind / f"{name:08x}.json"


def read_entries(path: Path, *sources: str) -> dict[str, Any]:
    """The entries; none if there is no such file, or it does not count.

    ``sources``: the folders of mlecore whose code made them.
    """
    try:
        values = json.loads(_content(path))
    except (OSError, DataError, ValueError, RecursionError):
        return {}
    entries = values.get("entries") if isinstance(values, dict) and values.get("core") == _core(*sources) else None
    return entries if isinstance(entries, dict) else {}


def write_entries(path: Path, entries: dict[str, Any], *sources: str) -> None:
    """Replace the file whole, and remove those that nobody uses any more."""
    body = json.dumps({"core": _core(*sources), "entries": entries}).encode()
    with suppress(OSError, DataError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(b"%b\n%b" % (_seal(path, body), body))
        new.replace(path)
        if path.parent.is_symlink() or path.parent.parent.is_symlink():
            return  # whose files lie there is unknown
        for other in path.parent.iterdir():
            if _OWN.fullmatch(other.name) and other.lstat().st_mtime < time.time() - _UNUSED:
                other.unlink()


def stamp(path: str, *, follow: bool = True) -> Stamp:
    """What tells a file from the same one changed; ``follow``: links. None: there is no such file."""
    try:
        status = os.stat(path, follow_symlinks=follow)  # noqa: PTH116
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def shows_changes(stamp: Stamp, began: float) -> bool:
    """Will the file have another stamp after any change from the time ``began`` on?

    Not if it changed just before that: one more change may then leave no trace. Nor if its times are in the future.
    """
    return stamp is None or max(stamp[1:3]) <= (began - SETTLED) * 1e9


def _content(path: Path) -> bytes:
    """The JSON. Raises OSError, and ValueError for a file that is damaged or not this user's own."""
    flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > LIMIT:
            raise ValueError("not a file of mlecore's")
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
            raise ValueError("somebody else can write to it")
        seal, _, body = file.read().partition(b"\n")
    if seal != _seal(path, body):
        raise ValueError("damaged, or made by hand")
    return body


def _seal(path: Path, body: bytes) -> bytes:
    """Raises OSError, DataError."""
    import hmac

    return hmac.digest(files.random_secret(path.parent.with_name("key")), body, "sha256").hex().encode()


def _core(*sources: str) -> list[Any]:
    """Which code makes entries, in which Python: by its stamps, as an editable install keeps its version."""
    stamps = [stamp(path) for folder in sources for path in _modules(folder)]
    return [sys.version, zlib.crc32(repr(stamps).encode())]


def _modules(folder: str) -> list[str]:
    root = os.path.join(os.path.dirname(__file__), folder)  # noqa: PTH118, PTH120
    return sorted(entry.path for entry in os.scandir(root) if entry.name.endswith(".py"))
