"""What is installed, read from distribution metadata and source text; nothing is imported.

Each plugin is examined by itself: whatever is wrong with one, the others are still listed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from attrs import evolve

from mlecore.errors import UsageError
from mlecore.printable import printable
from mlecore.registry.entry_points import GROUPS, Point, headers, meant, name_of, points, version
from mlecore.registry.imports import file_of
from mlecore.registry.plugin import Plugin

KINDS = ("competition", "agent", "backend", "detector", "extension")
PREFIXES = {
    "competition": "mle-comp-",
    "agent": "mle-agent-",
    "backend": "mle-backend-",
    "detector": "mle-detector-",
    "extension": "mle-ext-",
}
DISABLE = "MLECORE_DISABLE_PLUGINS"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LONGEST = 300  # characters of metadata that a message shows


@lru_cache(maxsize=1)
def _all_entries() -> tuple[Point, ...]:
    return tuple(sorted(points(), key=lambda point: (point.group, point.name, name_of(point.info))))


def plugins(kind: str | None = None) -> list[Plugin]:
    """Every installed plugin, or those of one kind; one that cannot be used comes with the reason. Imports none.

    Raises UsageError for an unknown kind, and if MLECORE_DISABLE_PLUGINS cannot be read.
    """
    lost = tuple(_in_unknown_groups())
    kinds = dict.fromkeys([*KINDS, *(plugin.kind for plugin in lost)])
    if kind is not None and not (isinstance(kind, str) and kind in kinds):
        raise UsageError(f"unknown kind of plugin {str(kind)[:60]!r}; available: {', '.join(kinds)}")
    known = (plugin for each in KINDS if kind in (None, each) for plugin in _of_kind(each))
    return [*known, *(plugin for plugin in lost if kind in (None, plugin.kind))]


def names(kind: str) -> list[str]:
    """Names of the installed plugins of one kind, whatever their state. Quick, as it examines none."""
    return sorted({_shown(point.name) for point in _all_entries() if point.kind == kind})


def _disabled() -> set[str]:
    """The plugins that MLECORE_DISABLE_PLUGINS names, as "agent:dummy, competition:leaf-classification"."""
    names = set(filter(None, re.split(r"[,\s]+", os.environ.get(DISABLE, ""))))
    for name in sorted(names):
        kind, colon, plugin = name.partition(":")
        if not colon or not plugin or kind not in KINDS:
            raise UsageError(
                f"{DISABLE} names {_shown(name)!r}, which is not KIND:NAME with a kind of {', '.join(KINDS)}",
                fix=f"Write it like {DISABLE}=agent:dummy,competition:leaf-classification",
            )
    return names


def disabled_in_vain() -> list[str]:
    """What MLECORE_DISABLE_PLUGINS names although it is not installed."""
    return sorted(_disabled() - {f"{plugin.kind}:{plugin.name}" for plugin in plugins()})


@cache
def find(kind: str, name: str) -> Plugin | None:
    """The plugin that is used under a name, or None. Only this one is examined, so that loading one is quick."""
    found = (*_named(kind, name), *_in_unknown_groups())
    return next((each for each in found if (each.kind, each.name) == (kind, name) and each.state != "shadowed"), None)


@cache
def _of_kind(kind: str) -> tuple[Plugin, ...]:
    return tuple(_named(kind))


def _named(kind: str, name: str | None = None) -> Iterator[Plugin]:
    disabled = _disabled()
    named = (point for point in _all_entries() if point.kind == kind and name in (None, point.name))
    found = [_described(point, kind) for point in named]
    owners = _owners([plugin for plugin, _ in found])
    for plugin, requires in found:
        owner = owners[plugin.name]
        if f"{kind}:{plugin.name}" in disabled:
            yield evolve(plugin, state="disabled", reason=f"named in {DISABLE}")
        elif owner != plugin.distribution:
            yield evolve(plugin, state="shadowed", reason=f"{owner} provides this name")
        else:
            yield _examined(plugin, requires)


def _examined(plugin: Plugin, requires: Sequence[str]) -> Plugin:
    try:
        if not _NAME.fullmatch(plugin.name):
            return evolve(
                plugin, state="broken", reason="its name may have letters, digits and . _ - only, at most 100"
            )
        if reason := _core_mismatch(requires):
            return evolve(plugin, state="incompatible", reason=reason)
        from mlecore.registry.inspection import examine

        found = examine(plugin)
        return evolve(found, reason=_shown(found.reason))
    except Exception as error:  # no distribution may end the listing of the others
        return evolve(plugin, state="broken", reason=_shown(f"cannot be examined: {type(error).__name__}: {error}"))


def _in_unknown_groups() -> Iterator[Plugin]:
    """Plugins that would never be found, because their entry-point group is misspelled or another version's."""
    for point in _all_entries():
        if point.kind is None:
            near = meant(point.group)
            hint = f"did you mean {near}?" if near else f"available: {', '.join(GROUPS)}"
            plugin, _ = _described(point, GROUPS[near] if near else _shown(point.group))
            where = f"{point.info}/entry_points.txt"
            yield evolve(plugin, state="broken", reason=f"{where}: unknown group {_shown(point.group)}; {hint}")


def _described(point: Point, kind: str) -> tuple[Plugin, list[str]]:
    """The plugin as its metadata describe it, and what its distribution requires."""
    head = headers(point.info)
    plugin = Plugin(
        kind=kind,
        name=_shown(point.name),
        version=_shown(head.get("Version", ["?"])[0]),
        distribution=_shown(head.get("Name", [name_of(point.info)])[0]),
        summary=_shown(head.get("Summary", [""])[0]),
        module=_shown(point.module),
        origin=_origin(point.module),
    )
    return plugin, head.get("Requires-Dist", [])


def _shown(text: str) -> str:
    """On one line, of bounded length, and without control characters."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return printable(cut)


def _owners(found: Sequence[Plugin]) -> dict[str, str]:
    """The distribution that provides each name: the one that is named after the plugin, else the first."""
    counts = Counter(plugin.name for plugin in found)
    owners: dict[str, str] = {}
    for plugin in found:
        called_after = plugin.distribution.lower() == PREFIXES[plugin.kind] + plugin.name.lower()
        if plugin.name not in owners or (counts[plugin.name] > 1 and called_after):
            owners[plugin.name] = plugin.distribution
    return owners


def _origin(module: str) -> Path | None:
    """The module's file, found through its top-level package so that nothing is imported."""
    top, *below = module.split(".")
    if not all(part.isidentifier() for part in (top, *below)):
        return None
    file = file_of(top)
    if file is None or not below:
        return file
    path = file.parent.joinpath(*below)
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.exists()), None)


def _core_mismatch(requires: Sequence[str]) -> str | None:
    for line in requires:
        if not re.match(r"mlecore\b(?![-_.])", line, re.IGNORECASE) or not re.search(r"[<>=!~]", line):
            continue
        core = version("mlecore")
        if _plainly_newer(line, core):
            continue
        from packaging.requirements import InvalidRequirement, Requirement

        try:
            wanted = Requirement(line)
        except InvalidRequirement:
            return f"its Requires-Dist cannot be read: {line}"
        if not wanted.marker and not wanted.specifier.contains(core, prereleases=True):
            return f"needs {wanted}, but mlecore {core} is installed"
    return None


def _plainly_newer(line: str, core: str) -> bool:
    """``mlecore>=0.1`` with 0.1.0 installed: what nearly all say, decided without importing packaging."""
    wanted = re.fullmatch(r"mlecore\s*>=\s*(\d+(?:\.\d+)*)", line)
    have = re.fullmatch(r"\d+(?:\.\d+)*", core)
    if not wanted or not have:
        return False
    least, got = ([int(part) for part in text.split(".")] for text in (wanted[1], core))
    return got + [0] * (len(least) - len(got)) >= least
