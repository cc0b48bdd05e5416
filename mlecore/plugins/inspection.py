"""What is wrong with a plugin as far as its source text shows, without importing it.

A syntax error, an import of a missing module, a missing or unknown hook, an argument that pluggy would drop: a listing
finds each by parsing the modules. Reading is bounded, and a file that cannot be read counts as broken.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import cache
from inspect import signature
from pathlib import Path

from attrs import evolve

from mlecore.errors import DataError, PluginError
from mlecore.model.plugin import Plugin
from mlecore.plugins.entry_points import spec_of
from mlecore.util.regular import read_regular

_LONGEST_MODULE = 512 * 1024  # bytes; reading this much takes about a second
_LONGEST_DESCRIPTION = 4 * 1024 * 1024


def examine(plugin: Plugin) -> Plugin:
    """The plugin; a competition with its facts. Raises PluginError with what is wrong."""
    if plugin.origin is None:
        raise PluginError(f"the module {plugin.module} cannot be found")
    for file in plugin.modules().values():
        _examine_module(file, plugin)
    if plugin.kind != "competition":
        return plugin
    from mlecore.model.facts import read_facts
    from mlecore.plugins.splits import require_names

    facts = read_facts(plugin.origin.parent)
    if facts.id != plugin.name:
        raise PluginError(f"competition.toml says id = {facts.id!r}, the entry point {plugin.name!r}")
    require_names(facts.splits)
    for edition in facts.editions:
        _examine_module(next(iter(plugin.modules(edition).values())), plugin)
    _examine_description(plugin.origin.with_name("description.md"))
    return evolve(plugin, facts=facts)


def _examine_module(file: Path | None, plugin: Plugin) -> None:
    """The required hooks must be in the module that the entry point names."""
    if file is None or file.suffix != ".py":  # compiled: only loading shows
        return
    where = "" if file == plugin.origin else f"{file.name}: "
    try:
        tree = _parsed(file)
    except (SyntaxError, ValueError) as error:
        raise PluginError(f"{where}fails to import: {error}") from None
    except (RecursionError, MemoryError):
        raise PluginError(f"{where}fails to import: its code is nested too deep") from None
    for name in _imported(tree):
        if spec_of(name.partition(".")[0]) is None:
            raise PluginError(f"{where}fails to import: no module named {name!r}")
    if reason := _hook_flaw(tree, plugin.kind, whole=not where):
        raise PluginError(where + reason)


def _parsed(path: Path) -> ast.Module:
    source = _read(path, _LONGEST_MODULE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as those about invalid escapes: they are for the author
        return ast.parse(source, path)


def _examine_description(path: Path) -> None:
    try:
        text = _read(path, _LONGEST_DESCRIPTION).decode("utf-8")
    except UnicodeDecodeError as error:
        raise PluginError(f"{path.name} is not UTF-8: {error}") from None
    if not text.strip():
        raise PluginError(f"{path.name} is empty")


def _read(path: Path, limit: int) -> bytes:
    try:
        return read_regular(path, limit)
    except FileNotFoundError:
        raise PluginError(f"{path.name} is missing") from None
    except (OSError, DataError) as error:
        raise PluginError(f"{path.name} cannot be read: {error}") from None


def _imported(tree: ast.Module) -> Iterator[str]:
    """The modules that the top level imports."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def _hook_flaw(tree: ast.Module, kind: str, *, whole: bool) -> str | None:
    """What pluggy would refuse or drop of the functions marked with ``hookimpl``; if ``whole``, a missing hook."""
    known = _hooks(kind)
    bound: set[str] = set()
    unmarked: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if any(alias.name == "*" for alias in node.names):
                return None  # hooks may come from anywhere
            bound |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = [decorator for decorator in node.decorator_list if _is_hookimpl(decorator)]
            if not marks:
                (bound if node.decorator_list else unmarked).add(node.name)
                continue
            hook = _specname(marks[0]) or node.name
            bound.add(hook)
            if hook not in known:
                return f"implements an unknown hook: {hook}"
            if reason := _argument_flaw(node.args, known[hook]):
                return f"hook {hook}: {reason}"
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for name in required(kind) if whole else ():
        if name not in bound:
            return f"{name} is not marked with hookimpl" if name in unmarked else f"lacks the required hook {name}"
    return None


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The statements that run when the module is imported, including branches of if, try and with."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            yield node
            if isinstance(node, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
                waiting.append(node)


def _argument_flaw(given: ast.arguments, known: tuple[str, ...]) -> str | None:
    if given.defaults or any(given.kw_defaults):
        return "an argument has a default, so pluggy would not pass it"
    if given.kwonlyargs:
        return f"the argument {given.kwonlyargs[0].arg} is keyword-only, so pluggy would not pass it"
    unknown = (argument.arg for argument in given.args if argument.arg not in known)
    return next((f"unknown argument {name}; available: {', '.join(known)}" for name in unknown), None)


def _specname(mark: ast.expr) -> str | None:
    """The hook that ``hookimpl(specname="...")`` names."""
    for keyword in mark.keywords if isinstance(mark, ast.Call) else ():
        if keyword.arg == "specname" and isinstance(keyword.value, ast.Constant):
            return str(keyword.value.value)
    return None


def _is_hookimpl(node: ast.expr) -> bool:
    node = node.func if isinstance(node, ast.Call) else node
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "hookimpl"


@cache
def _hooks(kind: str) -> dict[str, tuple[str, ...]]:
    """Hook name -> its arguments."""
    from mlecore.hookspecs import SPECS

    hooks = {name: hook for name, hook in vars(SPECS[kind]).items() if not name.startswith("_")}
    return {name: tuple(signature(hook).parameters)[1:] for name, hook in hooks.items()}


def required(kind: str) -> list[str]:
    """The hooks that every plugin of this kind must have."""
    from mlecore.hookspecs import SPECS

    return [name for name, hook in vars(SPECS[kind]).items() if getattr(hook, "required", False)]
