"""Loading one plugin, in its own pluggy manager, so that no other plugin can answer for it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy
from attrs import evolve, frozen

from mlecore.errors import MlecoreError, PluginError, UsageError
from mlecore.hookspecs import SPECS
from mlecore.model.plugin import Plugin
from mlecore.plugins.discovery import find, installed, names
from mlecore.plugins.inspection import required
from mlecore.plugins.results import result_flaw


@frozen(kw_only=True, eq=False)
class Loaded:
    """A plugin ready for use: ``loaded.hook.grade(submission=..., ...)``."""

    plugin: Plugin
    module: ModuleType
    manager: pluggy.PluginManager

    @property
    def hook(self) -> Any:
        return self.manager.hook

    def implements(self, hook: str) -> bool:
        return bool(getattr(self.manager.hook, hook).get_hookimpls())

    @property
    def hooks(self) -> list[str]:
        """Names of the hooks that it implements."""
        return [
            caller.name
            for module in self.manager.get_plugins()
            for caller in self.manager.get_hookcallers(module) or ()
        ]

    def call(self, hook: str, **arguments: object) -> Any:
        """Call a hook, which is other people's code, and check the type of what it returns.

        Raises PluginError, which names plugin, hook and file, for any error but our own and for a result of a wrong
        type.
        """
        try:
            result = getattr(self.manager.hook, hook)(**arguments)
        except (MlecoreError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            line = _line(error, self.module)
            raise self._failed(hook, f"failed: {type(error).__name__}: {error}", line) from error
        if flaw := result_flaw(hook, result):
            raise self._failed(hook, f"returned a wrong value: {flaw}", str(self.plugin.origin))
        return result

    def _failed(self, hook: str, how: str, where: str) -> PluginError:
        return PluginError(
            f"{self.plugin.kind} {self.plugin.name}: its hook {hook} {how}",
            fix=f"Tell the authors of {self.plugin.distribution} {self.plugin.version}: {where}",
        )


def _line(error: BaseException, module: ModuleType) -> str:
    """The last line of the plugin that an error went through."""
    import traceback

    folder = Path(module.__file__ or "").parent
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    last = (own or frames)[-1]
    return f"{last.filename}, line {last.lineno}"


_GO_WITH = {"asked": "grade", "examine": "grade"}
"""Hooks that an edition does not inherit from v1 if it has its own of the other one."""


class _FirstCounts(pluggy.PluginManager):
    """Calls only the implementation that was registered first: an edition's module comes before v1's."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        options = super().parse_hookimpl_opts(plugin, name)
        if options is None:
            return None
        hook = options["specname"] or name
        others = [one for one in self._implementations(_GO_WITH.get(hook, "")) if one.plugin is not plugin]
        return None if others or self._implementations(hook) else options

    def _implementations(self, hook: str) -> list[pluggy.HookImpl]:
        caller = getattr(self.hook, hook, None)
        return caller.get_hookimpls() if caller else []


@cache
def load(kind: str, name: str, edition: str = "v1", plugin: Plugin | None = None) -> Loaded:
    """Import and check one plugin; a competition in an edition. ``plugin``: the one of this name, if it is known.

    Raises UsageError for an unknown or disabled name, PluginError for a broken one.
    """
    plugin = plugin or find(kind, name)
    if plugin is None:
        raise UsageError(f"there is no {kind} called {name!r}", fix=_hint(kind, name))
    if plugin.state == "disabled":
        raise UsageError(f"{kind} {name} is disabled: {plugin.reason}")
    if plugin.state != "ok":
        raise _unusable(plugin)
    manager = _FirstCounts("mlecore")
    manager.add_hookspecs(SPECS[kind])
    module = _register(plugin, manager, edition)
    for hook in required(kind):
        if not getattr(manager.hook, hook).get_hookimpls():
            raise _broken(plugin, f"lacks the required hook {hook}")
    return Loaded(plugin=plugin, module=module, manager=manager)


def _register(plugin: Plugin, manager: pluggy.PluginManager, edition: str = "v1") -> ModuleType:
    """Import and register the modules that hold its hooks; returns the one that its entry point names."""
    modules = {name: _register_module(plugin, name, manager) for name in plugin.modules(edition)}
    return modules[plugin.module]


def _register_module(plugin: Plugin, name: str, manager: pluggy.PluginManager) -> ModuleType:
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise _broken(plugin, f"fails to import: {type(error).__name__}: {error}") from error
    try:
        manager.register(module, name=f"{plugin.kind}:{plugin.name}{name.removeprefix(plugin.module)}")
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise _broken(plugin, str(error)) from None
    for caller in manager.get_hookcallers(module) or ():
        for implementation in caller.get_hookimpls():
            if implementation.plugin is module and (reason := _dropped(implementation.function)):
                raise _broken(plugin, f"hook {caller.name}: {reason}")
    return module


def _dropped(function: Callable[..., object]) -> str | None:
    """The argument that pluggy would silently not pass."""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty:
            return f"the argument {parameter.name} has a default, so pluggy would not pass it"
        if parameter.kind is parameter.KEYWORD_ONLY:
            return f"the argument {parameter.name} is keyword-only, so pluggy would not pass it"
    return None


def _broken(plugin: Plugin, reason: str) -> PluginError:
    return _unusable(evolve(plugin, state="broken", reason=reason))


def _unusable(plugin: Plugin) -> PluginError:
    return PluginError(f"{plugin} is {plugin.state}: {plugin.reason}")


def _hint(kind: str, name: str) -> str:
    from difflib import get_close_matches

    from mlecore.plugins.published import published

    packages, known_here = published(kind), names(kind)
    if name in packages:
        return f"Install it: pip install {packages[name]}"
    known = {each.lower(): each for each in (*packages, *known_here)}
    if near := [known[each] for each in get_close_matches(name.lower(), known, n=3)]:
        return f"Did you mean {' or '.join(near)}?"
    published_ones = "" if kind == "competition" else f"; mlecore's own: {', '.join(sorted(packages))}"
    return (
        f"`mlecore plugins list --kind {kind}` lists what is installed{published_ones}. A plugin of other authors is "
        "found once its package is installed in this Python environment."
    )


@lru_cache(maxsize=1)
def load_extensions() -> tuple[pluggy.PluginManager, tuple[PluginError, ...]]:
    """All extensions in one manager, and the errors of those that cannot be loaded."""
    manager = pluggy.PluginManager("mlecore")
    manager.add_hookspecs(SPECS["extension"])
    errors: list[PluginError] = []
    for plugin in installed("extension"):
        if plugin.state == "ok":
            try:
                _register(plugin, manager)
            except PluginError as error:
                if manager.get_plugin(f"extension:{plugin.name}"):
                    manager.unregister(name=f"extension:{plugin.name}")
                errors.append(error)
        elif plugin.state in ("broken", "incompatible"):
            errors.append(_unusable(plugin))
    return manager, tuple(errors)
