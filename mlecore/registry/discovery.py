"""What is installed, read from distribution metadata and source text; nothing is imported."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from attrs import evolve, frozen

from mlecore.entry_points import Point, headers, name_of, points, version

KINDS = ("competition", "agent", "backend", "detector", "extension")
_PREFIX = {"competition": "mle-comp-", "agent": "mle-agent-", "backend": "mle-backend-", "detector": "mle-detector-"}


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

    @property
    def modules(self) -> tuple[tuple[str, Path | None], ...]:
        """The modules that hold its hooks, with their files: a competition's ``synthetic.py`` is one of them."""
        own = (self.module, self.origin)
        if self.kind != "competition" or self.origin is None or self.origin.name != "__init__.py":
            return (own,)
        synthetic = self.origin.with_name("synthetic.py")
        return (own, (f"{self.module}.synthetic", synthetic)) if synthetic.is_file() else (own,)


@lru_cache(maxsize=1)
def _all_entries() -> tuple[Point, ...]:
    return tuple(sorted(points(), key=lambda point: (point.kind, point.name, name_of(point.info))))


def plugins(kind: str | None = None) -> list[Plugin]:
    """Every installed plugin, or those of one kind; broken and disabled ones with their reason. Imports none."""
    return [plugin for plugin in _all_plugins() if kind in (None, plugin.kind)]


@lru_cache(maxsize=1)
def _all_plugins() -> tuple[Plugin, ...]:
    disabled = set(filter(None, re.split(r"[,\s]+", os.environ.get("MLECORE_DISABLE_PLUGINS", ""))))
    return tuple(plugin for kind in KINDS for plugin in _of_kind(kind, disabled))


def _of_kind(kind: str, disabled: set[str]) -> Iterator[Plugin]:
    from mlecore.registry.inspection import flaw

    found = [_described(point) for point in _all_entries() if point.kind == kind]
    owners = _owners([plugin for plugin, _ in found])
    for plugin, requires in found:
        if f"{kind}:{plugin.name}" in disabled:
            yield evolve(plugin, state="disabled", reason="named in MLECORE_DISABLE_PLUGINS")
        elif owners[plugin.name] != plugin.distribution:
            yield evolve(plugin, state="broken", reason=f"the name is taken by {owners[plugin.name]}")
        elif reason := (_core_mismatch(requires) or flaw(plugin)):
            yield evolve(plugin, state="broken", reason=reason)
        else:
            yield plugin


def _described(point: Point) -> tuple[Plugin, list[str]]:
    """The plugin as its metadata describe it, and what its distribution requires."""
    head = headers(point.info)
    plugin = Plugin(
        kind=point.kind,
        name=point.name,
        version=head.get("Version", ["?"])[0],
        distribution=head.get("Name", [name_of(point.info)])[0],
        summary=head.get("Summary", [""])[0],
        module=point.module,
        origin=_origin(point.module),
    )
    return plugin, head.get("Requires-Dist", [])


def _owners(found: Sequence[Plugin]) -> dict[str, str]:
    """Who has a name that several distributions claim: the one that is called after it, else the first."""
    counts = Counter(plugin.name for plugin in found)
    owners: dict[str, str] = {}
    for plugin in found:
        called_after = plugin.distribution.lower() == _PREFIX.get(plugin.kind, "") + plugin.name.lower()
        if plugin.name not in owners or (counts[plugin.name] > 1 and called_after):
            owners[plugin.name] = plugin.distribution
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
    """``mlecore>=0.1`` with 0.1.0 installed: what nearly all say, told without importing packaging."""
    wanted = re.fullmatch(r"mlecore\s*>=\s*(\d+(?:\.\d+)*)", line)
    have = re.fullmatch(r"\d+(?:\.\d+)*", core)
    if not wanted or not have:
        return False
    least, got = ([int(part) for part in text.split(".")] for text in (wanted[1], core))
    return got + [0] * (len(least) - len(got)) >= least
