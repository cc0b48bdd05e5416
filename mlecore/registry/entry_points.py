"""The entry points of what is installed, read from its files: importlib.metadata takes five times as long to import.

Looks into the folders of ``sys.path``, as imports do; the first distribution of a name counts. Imports nothing heavy,
so that `mlecore --help` can list the commands of plugins.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

GROUPS = {f"mlecore.{kind}s": kind for kind in ("competition", "agent", "backend", "detector", "extension", "command")}
_SEPARATORS = re.compile(r"[-_.]+")
_INFO = (".dist-info", ".egg-info")
_LIMIT = 1 << 20  # bytes that are read of a file of metadata
_HEAD = 1 << 12  # bytes that nearly always hold the head of a METADATA
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)  # a pipe is not waited for


class Point(NamedTuple):
    """One entry point of one of mlecore's groups, or of a group whose name looks like a misspelling of one."""

    group: str  # such as "mlecore.agents"; may be one that does not exist
    name: str
    value: str  # "module" or "module:attribute"
    info: str  # the folder of its distribution's metadata

    @property
    def kind(self) -> str | None:
        """Such as "agent", "command"; None if there is no such group."""
        return GROUPS.get(self.group)

    @property
    def module(self) -> str:
        return self.value.partition(":")[0].strip()

    @property
    def distribution(self) -> str:
        """Its name."""
        return headers(self.info).get("Name", [name_of(self.info)])[0]

    @property
    def summary(self) -> str:
        """What its distribution does, in its own words."""
        return headers(self.info).get("Summary", [f"Provided by {self.distribution}"])[0]

    def load(self) -> Any:
        """What it names, imported."""
        from importlib import import_module

        target: Any = import_module(self.module)
        for attribute in filter(None, self.value.partition(":")[2].strip().split(".")):
            target = getattr(target, attribute)
        return target


def points() -> Iterator[Point]:
    """Those of all groups that begin with "mlecore." or were meant to, in no order."""
    for info in _distributions().values():
        text = read(info, "entry_points.txt")
        if "[m" in text or "[M" in text:
            yield from _parse(text, info)


def meant(group: str) -> str | None:
    """The group whose name is nearly this one: "mlecore.agents" for "mle_core.agent"."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(group.lower(), GROUPS, n=1, cutoff=0.8)), None)


def commands() -> dict[str, Point]:
    """Commands that plugins provide, by name."""
    return {point.name: point for point in points() if point.kind == "command"}


def read(info: str, name: str, limit: int = _LIMIT) -> str:
    """The first bytes of a metadata file; empty if it is missing or not a regular file."""
    try:
        descriptor = os.open(f"{info}/{name}", _FLAGS)
    except OSError:
        return ""
    try:
        status = os.fstat(descriptor)
        content = os.read(descriptor, min(status.st_size, limit)) if stat.S_ISREG(status.st_mode) else b""
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return content.decode("utf-8", errors="replace")


def headers(info: str) -> dict[str, list[str]]:
    """The head of a distribution's METADATA: name -> values."""
    found: dict[str, list[str]] = {}
    head = read(info, "METADATA", _HEAD)
    if "\n\n" not in head:
        head = read(info, "METADATA") or read(info, "PKG-INFO")
    for line in head.splitlines():
        name, colon, value = line.partition(": ")
        if not colon:
            break
        found.setdefault(name, []).append(value)
    return found


@cache
def version(distribution: str) -> str:
    """Of an installed distribution; empty if it is not installed."""
    info = _distributions().get(_normal(distribution))
    return headers(info).get("Version", [""])[0] if info else ""


def name_of(info: str) -> str:
    """A distribution's name as its folder spells it, for one whose METADATA is lost."""
    return os.path.basename(info).rpartition(".")[0].partition("-")[0]  # noqa: PTH119


def _distributions() -> dict[str, str]:
    """Normal name -> folder of the metadata."""
    found: dict[str, str] = {}
    for place in dict.fromkeys(sys.path):
        try:
            names = sorted(name for name in os.listdir(place or ".") if name.endswith(_INFO))  # noqa: PTH208
        except OSError:  # missing, or a zip file, in which no plugin can be: they need files
            continue
        for name in names:
            found.setdefault(_normal(name_of(name)), f"{place or '.'}/{name}")
    return found


def _normal(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


def _parse(text: str, info: str) -> Iterator[Point]:
    """Lines that cannot be read are left out."""
    group, ours = "", False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[] \t")
            ours = group in GROUPS or group.startswith("mlecore.") or _misspelled(group)
        elif ours and not line.startswith(("#", ";")):
            name, equals, value = (part.strip() for part in line.partition("="))
            if equals and name and value:
                yield Point(group, name, value.partition("[")[0].strip(), info)


def _misspelled(group: str) -> bool:
    lower = group.lower()
    return lower.startswith("m") and ("core" in lower or lower.startswith("mle")) and meant(group) is not None
