"""Plugins that were examined and found in order, remembered between processes: listing a hundred then reads none again.

One file in the user's cache folder has an entry per plugin: the size, times and inode of every file that was examined,
of missing ones too, and the modules that its code imports. An entry counts as long as all of that is unchanged. Only
what a listing shows rests on it: a plugin that is used is imported and checked, and its facts are read from their file.
What is wrong is never remembered. A file that is damaged, or is somebody else's, counts as none.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, field, mutable

from mlecore.registry.entry_points import version
from mlecore.registry.imports import importable
from mlecore.registry.plugin import CompetitionSummary, Plugin

_LIMIT = 4 << 20  # bytes
_SETTLED = 2.0  # seconds after which a changed file has other times, also on file systems that count whole seconds
_UNUSED = 90 * 24 * 3600.0  # seconds after which the file of another environment is removed

Stamp = list[int] | None


@mutable
class _Verdicts:
    """The file's entries, as they are in JSON."""

    path: Path
    core: list[Any]  # which mlecore examined, in which Python
    entries: dict[str, Any] = field(factory=dict)
    changed: bool = False


def recall(plugin: Plugin) -> Plugin | None:
    """The plugin with what a listing shows of it, if nothing wrong was found earlier and that still holds."""
    entry = _verdicts().entries.get(_key(plugin))
    if entry is None or any(_stamp(path) != stamp for path, stamp in entry["files"].items()):
        return None
    if not all(map(importable, entry["imports"])):
        return None
    return evolve(plugin, competition=entry["competition"] and CompetitionSummary.from_json(entry["competition"]))


def remember(plugin: Plugin, files: Iterable[Path], imports: Iterable[str], began: float) -> None:
    """That nothing wrong was found in these files, whose code imports these modules.

    ``began``: the time before the first one was read. Files that changed just before that are not remembered, as they
    may change once more without a trace.
    """
    stamps = {str(file): _stamp(str(file)) for file in files}
    if any(stamp and max(stamp[1:3]) > (began - _SETTLED) * 1e9 for stamp in stamps.values()):
        return
    summary = plugin.competition and asdict(plugin.competition)
    verdicts = _verdicts()
    verdicts.entries[_key(plugin)] = {"files": stamps, "imports": sorted(imports), "competition": summary}
    verdicts.changed = True


def forget() -> None:
    """So that every plugin is examined."""
    verdicts = _verdicts()
    verdicts.entries, verdicts.changed = {}, True


def keep() -> None:
    """Write what was remembered. A folder that cannot be written to is no error."""
    verdicts = _verdicts()
    if not verdicts.changed:
        return
    verdicts.changed = False
    body = json.dumps({"core": verdicts.core, "entries": verdicts.entries}).encode()
    with suppress(OSError):
        verdicts.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = verdicts.path.with_suffix(f".{os.getpid()}")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(b"%08x\n%b" % (zlib.crc32(body), body))
        new.replace(verdicts.path)
        for other in verdicts.path.parent.iterdir():
            if other.stat().st_mtime < time.time() - _UNUSED:
                other.unlink()


def _verdicts() -> _Verdicts:
    from platformdirs import user_cache_path

    environment = f"{sys.prefix}\0{sys.implementation.cache_tag}".encode(errors="surrogateescape")
    return _opened(user_cache_path("mlecore", appauthor=False) / "plugins" / f"{zlib.crc32(environment):08x}.json")


@cache
def _opened(path: Path) -> _Verdicts:
    core = [version("mlecore"), sys.version, _core_stamp()]
    try:
        values = json.loads(_content(path))
    except (OSError, ValueError):
        values = {}
    same = values.get("core") == core
    return _Verdicts(path=path, core=core, entries=values["entries"] if same else {})


def _content(path: Path) -> bytes:
    """The JSON. Raises OSError, and ValueError for a file that is damaged or not this user's own."""
    flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LIMIT:
            raise ValueError("not a file of mlecore's")
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
            raise ValueError("somebody else can write to it")
        digest, _, body = file.read().partition(b"\n")
    if digest != b"%08x" % zlib.crc32(body):
        raise ValueError("damaged")
    return body


def _key(plugin: Plugin) -> str:
    return f"{plugin.kind}:{plugin.name} {plugin.module} {plugin.origin}"


def _stamp(path: str) -> Stamp:
    """None: there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _core_stamp() -> int:
    """Of mlecore's own code: an editable install keeps its version."""
    stamps = [_stamp(str(path)) for folder in ("registry", "submissions", ".") for path in _sources(folder)]
    return zlib.crc32(repr(stamps).encode())


def _sources(folder: str) -> list[str]:
    root = os.path.join(os.path.dirname(os.path.dirname(__file__)), folder)  # noqa: PTH118, PTH120
    return sorted(entry.path for entry in os.scandir(root) if entry.name.endswith(".py"))
