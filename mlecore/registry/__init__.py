"""Finding plugins without importing them, and loading one when it is used."""

from mlecore.registry.discovery import plugins
from mlecore.registry.loading import Loaded, load, load_extensions
from mlecore.registry.opening import OpenBackend, open_backend
from mlecore.registry.plugin import Plugin, State

__all__ = ["Loaded", "OpenBackend", "Plugin", "State", "load", "load_extensions", "open_backend", "plugins"]
