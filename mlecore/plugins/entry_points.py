"""The entry points that plugins declare. Light, as `mlecore --help` lists the commands of plugins."""

from __future__ import annotations

import re
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, PackageMetadata, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

GROUPS = {f"mlecore.{kind}s": kind for kind in ("competition", "agent", "backend", "detector", "extension", "command")}


class Point(NamedTuple):
    """One entry point of one of mlecore's groups, or of a group whose name looks like a misspelling of one."""

    group: str  # such as "mlecore.agents"; may be one that does not exist
    name: str
    value: str  # "module" or "module:attribute"
    metadata: PackageMetadata  # of its distribution

    @property
    def kind(self) -> str:
        """Such as "agent", "command"; of a misspelled group the kind that was meant, else the group."""
        return GROUPS.get(self.group) or GROUPS.get(meant(self.group) or "", self.group)

    @property
    def module(self) -> str:
        return re.split(r"[:\[]", self.value)[0].strip()

    @property
    def origin(self) -> Path | None:
        """The module's file, found through its top-level package so that nothing is imported."""
        top, *below = self.module.split(".")
        spec = spec_of(top)
        if spec is None or spec.origin is None or not all(part.isidentifier() for part in below):
            return None
        path = Path(spec.origin).parent.joinpath(*below)
        files = (path / "__init__.py", path.with_suffix(".py")) if below else (Path(spec.origin),)
        return next((file for file in files if file.exists()), None)

    @property
    def distribution(self) -> str:
        """Its name."""
        return self.header("Name")

    @property
    def summary(self) -> str:
        """What its distribution does, in its own words."""
        return self.header("Summary", f"Provided by {self.distribution}")

    def header(self, name: str, default: str = "?") -> str:
        """A field of its distribution's metadata."""
        return next(iter(self.headers(name)), default)

    def headers(self, name: str) -> list[str]:
        """All values of a field of its distribution's metadata."""
        return list(map(str, self.metadata.get_all(name, [])))

    def load(self) -> Any:
        """What it names, imported."""
        return EntryPoint(self.name, self.value, self.group).load()


@cache
def points() -> tuple[Point, ...]:
    """Those of all groups that begin with "mlecore." or were meant to. The first distribution of a name counts."""
    found: dict[str, list[Point]] = {}  # by the name of their distribution
    for distribution in distributions():
        try:
            ours = [entry for entry in distribution.entry_points if _ours(entry.group)]
            metadata = distribution.metadata if ours else None
            name = re.sub(r"[-_.]+", "-", metadata["Name"]).lower() if metadata else ""
        except Exception:  # damaged files, which must not end the search
            continue
        if metadata:
            found.setdefault(name, [Point(entry.group, entry.name, entry.value, metadata) for entry in ours])
    return tuple(point for each in found.values() for point in each)


def commands() -> dict[str, Point]:
    """Commands that plugins provide, by name."""
    return {point.name: point for point in points() if point.group == "mlecore.commands"}


def meant(group: str) -> str | None:
    """The group whose name is nearly this one: "mlecore.agents" for "mle_core.agent"."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(group.lower(), GROUPS, n=1, cutoff=0.8)), None)


@cache
def spec_of(top: str) -> ModuleSpec | None:
    """What `import TOP` would find, without importing it."""
    try:
        return find_spec(top)
    except Exception:  # it is no name of a module, or the finder of an editable install fails
        return None


def _ours(group: str) -> bool:
    return group.startswith("mlecore.") or (group.lower().startswith("mle") and meant(group) is not None)
