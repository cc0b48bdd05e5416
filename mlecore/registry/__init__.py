"""Finding plugins without importing them, and loading one when it is used."""

from mlecore.registry.discovery import Plugin, State, plugins
from mlecore.registry.loading import Loaded, load, load_extensions
from mlecore.registry.opening import OpenBackend, open_backend

__all__ = ["Loaded", "OpenBackend", "Plugin", "State", "load", "load_extensions", "open_backend", "plugins"]
