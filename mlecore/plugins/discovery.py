"""What is installed, read from distribution metadata and source text; nothing is imported.

Each plugin is examined by itself: whatever is wrong with one, the others are still listed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version

from attrs import evolve

from mlecore.errors import PluginError, UsageError
from mlecore.model.plugin import Plugin
from mlecore.plugins.entry_points import GROUPS, Point, meant, points
from mlecore.plugins.inspection import examine
from mlecore.util.printable import printable

PREFIXES = {
    "competition": "mle-comp-",
    "agent": "mle-agent-",
    "backend": "mle-backend-",
    "detector": "mle-detector-",
    "extension": "mle-ext-",
}
KINDS = tuple(PREFIXES)
DISABLE = "MLECORE_DISABLE_PLUGINS"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LONGEST = 300  # characters of metadata that a message shows
_version = cache(version)


@cache
def _points() -> dict[str, list[Point]]:
    """By kind, sorted by name and distribution. Those of unknown groups count to the kind that was meant."""
    found: dict[str, list[Point]] = {kind: [] for kind in KINDS}
    for point in sorted(points(), key=lambda point: (point.name, point.distribution)):
        if point.kind != "command":
            found.setdefault(_shown(point.kind), []).append(point)
    return found


def installed(kind: str | None = None) -> list[Plugin]:
    """Every installed plugin, or those of one kind; one that cannot be used comes with the reason. Imports none.

    Raises UsageError for an unknown kind, and if MLECORE_DISABLE_PLUGINS cannot be read.
    """
    kinds = _points()
    if kind is not None and not (isinstance(kind, str) and kind in kinds):
        raise UsageError(f"unknown kind of plugin {str(kind)[:60]!r}; available: {', '.join(kinds)}")
    return [plugin for each in kinds if kind in (None, each) for plugin in _of_kind(each)]


def names(kind: str) -> list[str]:
    """Names of the installed plugins of one kind, whatever their state. Quick, as it examines none."""
    return sorted({_shown(point.name) for point in _points().get(kind, ()) if point.group in GROUPS})


def _disabled() -> set[str]:
    """The plugins that MLECORE_DISABLE_PLUGINS names, as "agent:dummy, competition:leaf-classification"."""
    names = set(filter(None, re.split(r"[,\s]+", os.environ.get(DISABLE, ""))))
    for name in sorted(names):
        kind, _, plugin = name.partition(":")
        if not plugin or kind not in KINDS:
            raise UsageError(
                f"{DISABLE} names {_shown(name)!r}, which is not KIND:NAME with a kind of {', '.join(KINDS)}",
                fix=f"Write it like {DISABLE}=agent:dummy,competition:leaf-classification",
            )
    return names


def disabled_in_vain() -> list[str]:
    """What MLECORE_DISABLE_PLUGINS names although it is not installed."""
    return sorted(_disabled() - {f"{plugin.kind}:{plugin.name}" for plugin in installed()})


@cache
def find(kind: str, name: str) -> Plugin | None:
    """The plugin that is used under a name, or None. Only this one is examined, so that loading one is quick."""
    return next((plugin for plugin in _named(kind, name) if plugin.state != "shadowed"), None)


@cache
def _of_kind(kind: str) -> tuple[Plugin, ...]:
    return tuple(_named(kind))


def _named(kind: str, name: str | None = None) -> Iterator[Plugin]:
    """The plugins of a kind, or those of one name, examined."""
    disabled = _disabled()
    found = [point for point in _points().get(kind, ()) if name in (None, point.name)]
    owners = _owners(kind, [point for point in found if point.group in GROUPS])
    for point in found:
        plugin = _described(point, kind)
        if point.group not in GROUPS:
            near = meant(point.group)
            hint = f"did you mean {near}?" if near else f"available: {', '.join(GROUPS)}"
            yield evolve(plugin, state="broken", reason=f"unknown group {_shown(point.group)}; {hint}")
        elif f"{kind}:{plugin.name}" in disabled:
            yield evolve(plugin, state="disabled", reason=f"named in {DISABLE}")
        elif owners[point.name] != point.distribution:
            yield evolve(plugin, state="shadowed", reason=f"{_shown(owners[point.name])} provides this name")
        else:
            yield _examined(plugin, point.headers("Requires-Dist"))


def _owners(kind: str, found: Sequence[Point]) -> dict[str, str]:
    """The distribution that provides each name: the one that is named after the plugin, else the first."""
    owners: dict[str, str] = {}
    for point in found:
        if point.name not in owners or point.distribution.lower() == PREFIXES[kind] + point.name.lower():
            owners[point.name] = point.distribution
    return owners


def _described(point: Point, kind: str) -> Plugin:
    """The plugin as its metadata describe it."""
    return Plugin(
        kind=kind,
        name=_shown(point.name),
        version=_shown(point.header("Version")),
        distribution=_shown(point.distribution),
        summary=_shown(point.header("Summary", "")),
        module=_shown(point.module),
        origin=point.origin,
    )


def _examined(plugin: Plugin, requires: Sequence[str]) -> Plugin:
    try:
        if not _NAME.fullmatch(plugin.name):
            return evolve(
                plugin, state="broken", reason="its name may have letters, digits and . _ - only, at most 100"
            )
        if reason := _core_mismatch(requires):
            return evolve(plugin, state="incompatible", reason=reason)
        return examine(plugin)
    except PluginError as error:
        return evolve(plugin, state="broken", reason=_shown(error.message))
    except Exception as error:  # no distribution may end the listing of the others
        return evolve(plugin, state="broken", reason=_shown(f"cannot be examined: {type(error).__name__}: {error}"))


def _shown(text: str) -> str:
    """On one line, of bounded length, and without control characters."""
    return printable(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def _core_mismatch(requires: Sequence[str]) -> str | None:
    from packaging.requirements import InvalidRequirement, Requirement

    for line in requires:
        if not re.match(r"mlecore\b(?![-_.])", line, re.IGNORECASE):
            continue
        try:
            wanted = Requirement(line)
        except InvalidRequirement:
            return f"its Requires-Dist cannot be read: {line}"
        core = _version("mlecore")
        if not wanted.marker and not wanted.specifier.contains(core, prereleases=True):
            return f"needs {wanted}, but mlecore {core} is installed"
    return None
