"""Which code ran: plugins with a hash of their source, because an editable install keeps its version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from mlecore.registry.plugin import Plugin
from mlecore.runs.record import PluginUse


def plugin_use(plugin: Plugin, options: Mapping[str, str] | None = None) -> PluginUse:
    """A plugin for the record."""
    return PluginUse(
        name=plugin.name,
        version=plugin.version,
        distribution=plugin.distribution,
        source=source_digest(plugin.origin) if plugin.origin else "",
        options=dict(options or {}),
    )


def core_use() -> PluginUse:
    """The core itself, for the record."""
    from importlib.metadata import version

    source = source_digest(Path(__file__).parent.parent / "__init__.py")
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
