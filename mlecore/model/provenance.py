"""Which code ran: plugins with a hash of their source, because an editable install keeps its version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from mlecore.model.plugin import Plugin


@frozen(kw_only=True)
class PluginUse:
    """A plugin as a run used it. ``source`` identifies editable installs, which keep their version."""

    name: str  # as the entry point names it
    version: str = ""  # of its distribution
    distribution: str = ""  # that it comes from
    source: str = ""  # SHA-256 of its package's files
    options: Mapping[str, str] = field(factory=dict)  # that it was given

    def __str__(self) -> str:
        return (
            f"{self.distribution or self.name} {self.version} {f'({self.source[:12]})' if self.source else ''}".strip()
        )

    def is_same_as(self, other: PluginUse) -> bool:
        """The same code, with any options?"""
        mine, others = ((use.distribution, use.version, use.source) for use in (self, other))
        return mine == others


def plugin_use(plugin: Plugin, options: Mapping[str, str] | None = None) -> PluginUse:
    """A plugin for the record."""
    return PluginUse(
        name=plugin.name,
        version=plugin.version,
        distribution=plugin.distribution,
        source=source_digest(plugin.origin) if plugin.origin else "",
        options=dict(options or {}),
    )


LIBRARIES = ("mlecore", "mlecore_toolkit", "mlecore_jobs", "mlecore_sandboxes", "mlecore_gateway")
"""Packages whose code prepares, runs and grades beside that of plugins."""


def core_use() -> PluginUse:
    """The core with its libraries, for the record."""
    from importlib.metadata import version
    from importlib.util import find_spec

    found = filter(None, map(find_spec, LIBRARIES))
    sources = [source_digest(Path(spec.origin)) for spec in found if spec.origin]
    source = hashlib.sha256("".join(sources).encode()).hexdigest()
    return PluginUse(name="mlecore", version=version("mlecore"), distribution="mlecore", source=source)


@cache
def source_digest(module: Path) -> str:
    """SHA-256 (hex) of a module's file, or of all files of its package that are not caches."""
    if module.name != "__init__.py":
        return hashlib.sha256(module.read_bytes()).hexdigest()
    digest = hashlib.sha256()
    root = module.parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix not in (".pyc", ".pyo") and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 (hex) of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
