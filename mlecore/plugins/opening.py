"""A backend ready for use: its plugin loaded, its options resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import frozen

from mlecore.model.plugin import Plugin
from mlecore.plugins.loading import load

if TYPE_CHECKING:
    from mlecore.model.backends import Backend


@frozen(kw_only=True, eq=False)
class OpenBackend:
    """A backend, the plugin that it comes from, and all its options that have a value, defaults included."""

    backend: Backend
    plugin: Plugin
    options: Mapping[str, str]


def open_backend(name: str, options: Mapping[str, str] | None = None) -> OpenBackend:
    """The backend called ``name``, with these options of ``-B``. Contacts nothing.

    Raises UsageError for an unknown backend, an unknown option or a value that does not fit, and PluginError for a
    backend that is broken.
    """
    from mlecore.model.options import resolve

    loaded = load("backend", name)
    declared: Backend = loaded.call("backend", options={})
    resolved = resolve(declared.options, options or {}, f"backend {name}")
    return OpenBackend(backend=loaded.call("backend", options=resolved), plugin=loaded.plugin, options=resolved)
