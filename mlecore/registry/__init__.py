"""Finding plugins without importing them, and loading one when it is used."""

from mlecore.registry.discovery import Plugin, plugins
from mlecore.registry.loading import Loaded, load, load_extensions

__all__ = ["Loaded", "Plugin", "load", "load_extensions", "plugins"]
