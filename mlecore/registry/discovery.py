"""What is installed, read from distribution metadata and source text; nothing is imported."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import Distribution, EntryPoint, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attrs import evolve, frozen

if TYPE_CHECKING:
    import click

KINDS = ("competition", "agent", "backend", "detector", "extension")
_GROUPS = {f"mlecore.{kind}s": kind for kind in (*KINDS, "command")}
_PREFIX = {"competition": "mle-comp-", "agent": "mle-agent-", "backend": "mle-backend-", "detector": "mle-detector-"}


@frozen(kw_only=True)
class Entry:
    """One entry point of one of our groups."""

    kind: str
    name: str
    value: str  # "module" or "module:attribute"
    distribution: str
    version: str
    summary: str
    requires: tuple[str, ...]

    @property
    def module(self) -> str:
        return self.value.partition(":")[0].strip()

    def load_command(self) -> click.Command:
        """Import what an entry of the group mlecore.commands names."""
        from importlib.metadata import EntryPoint

        command: click.Command = EntryPoint(self.name, self.value, "mlecore.commands").load()
        return command


@frozen(kw_only=True)
class Plugin:
    """An installed plugin. ``state`` "broken" comes with a reason; more can turn up when it is loaded."""

    kind: str
    name: str
    version: str
    distribution: str
    summary: str
    module: str
    origin: Path | None  # the module's file
    state: Literal["ok", "disabled", "broken"] = "ok"
    reason: str = ""


def entries(kind: str) -> tuple[Entry, ...]:
    """All entry points of a kind, sorted by name, then distribution."""
    return tuple(entry for entry in _all_entries() if entry.kind == kind)


@lru_cache(maxsize=1)
def _all_entries() -> tuple[Entry, ...]:
    found: list[Entry] = []
    seen: set[str] = set()
    for distribution in distributions():
        text = distribution.read_text("entry_points.txt") or ""
        if "[mlecore." not in text:
            continue
        headers = _headers(distribution)
        name = headers.get("Name", ["?"])[0]
        if name != "?" and name in seen:  # the first one on the path counts, as for imports
            continue
        seen.add(name)
        for entry in _points(distribution):
            if entry.group in _GROUPS:
                found.append(
                    Entry(
                        kind=_GROUPS[entry.group],
                        name=entry.name,
                        value=entry.value,
                        distribution=name,
                        version=headers.get("Version", ["?"])[0],
                        summary=headers.get("Summary", [""])[0],
                        requires=tuple(headers.get("Requires-Dist", ())),
                    )
                )
    return tuple(sorted(found, key=lambda entry: (entry.kind, entry.name, entry.distribution)))


def _points(distribution: Distribution) -> Iterable[EntryPoint]:
    """None of a distribution whose file of entry points is damaged: nobody can tell what it offers."""
    try:
        return distribution.entry_points
    except (TypeError, ValueError, KeyError):
        return ()


def _headers(distribution: Distribution) -> dict[str, list[str]]:
    """The head of METADATA. (``Distribution.metadata`` parses the whole README as an e-mail: ten times slower.)"""
    headers: dict[str, list[str]] = {}
    for line in (distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or "").splitlines():
        name, colon, value = line.partition(": ")
        if not colon:
            break
        headers.setdefault(name, []).append(value)
    return headers


def plugins(kind: str | None = None) -> list[Plugin]:
    """Every installed plugin, or those of one kind; broken and disabled ones with their reason. Imports none."""
    return [plugin for plugin in _all_plugins() if kind in (None, plugin.kind)]


@lru_cache(maxsize=1)
def _all_plugins() -> tuple[Plugin, ...]:
    disabled = set(filter(None, re.split(r"[,\s]+", os.environ.get("MLECORE_DISABLE_PLUGINS", ""))))
    return tuple(plugin for kind in KINDS for plugin in _of_kind(kind, disabled))


def _of_kind(kind: str, disabled: set[str]) -> Iterator[Plugin]:
    from mlecore.registry.inspection import flaw

    found = entries(kind)
    owners = _owners(found)
    for entry in found:
        plugin = Plugin(
            kind=kind,
            name=entry.name,
            version=entry.version,
            distribution=entry.distribution,
            summary=entry.summary,
            module=entry.module,
            origin=_origin(entry.module),
        )
        if f"{kind}:{entry.name}" in disabled:
            yield evolve(plugin, state="disabled", reason="named in MLECORE_DISABLE_PLUGINS")
        elif owners[entry.name] != entry.distribution:
            yield evolve(plugin, state="broken", reason=f"the name is taken by {owners[entry.name]}")
        elif reason := (_core_mismatch(entry.requires) or flaw(plugin)):
            yield evolve(plugin, state="broken", reason=reason)
        else:
            yield plugin


def _owners(found: tuple[Entry, ...]) -> dict[str, str]:
    """Who has a name that several distributions claim: the one that is called after it, else the first."""
    counts = Counter(entry.name for entry in found)
    owners: dict[str, str] = {}
    for entry in found:
        called_after = entry.distribution.lower() == _PREFIX.get(entry.kind, "") + entry.name.lower()
        if entry.name not in owners or (counts[entry.name] > 1 and called_after):
            owners[entry.name] = entry.distribution
    return owners


def _origin(module: str) -> Path | None:
    """The module's file, found through its top-level package so that nothing is imported."""
    top, _, rest = module.partition(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    if not rest:
        return Path(spec.origin)
    below = Path(spec.origin).parent.joinpath(*rest.split("."))
    return next((path for path in (below / "__init__.py", below.with_suffix(".py")) if path.exists()), None)


def _core_mismatch(requires: tuple[str, ...]) -> str | None:
    for line in requires:
        if not re.match(r"mlecore\b(?![-_.])", line, re.IGNORECASE) or not re.search(r"[<>=!~]", line):
            continue
        from importlib.metadata import version

        from packaging.requirements import InvalidRequirement, Requirement

        try:
            wanted = Requirement(line)
        except InvalidRequirement:
            return f"its Requires-Dist cannot be read: {line}"
        if not wanted.marker and not wanted.specifier.contains(version("mlecore"), prereleases=True):
            return f"needs {wanted}, but mlecore {version('mlecore')} is installed"
    return None
