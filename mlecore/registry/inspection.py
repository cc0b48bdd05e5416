"""What is wrong with a plugin as far as its source text shows, without importing it.

A syntax error, an import of a missing module, a missing or unknown hook, an argument that pluggy would drop: each is
found by reading the module, so that a listing of 100 plugins quickly names the broken ones. Reading is bounded, and a
file that cannot be read counts as broken.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from mlecore.errors import MlecoreError
from mlecore.registry.imports import importable
from mlecore.registry.plugin import CompetitionSummary, Plugin
from mlecore.regular import read_regular

if TYPE_CHECKING:
    from mlecore.facts import Facts

_LONGEST_MODULE = 512 * 1024  # bytes; reading this much takes about a second
_LONGEST_DESCRIPTION = 4 * 1024 * 1024


def examine(plugin: Plugin) -> Plugin:
    """The plugin, broken with the reason, or in order; a competition with its facts in brief."""
    if reason := _flaw(plugin):
        return evolve(plugin, state="broken", reason=reason)
    if plugin.kind != "competition" or plugin.origin is None:
        return plugin
    from mlecore.facts import read_facts

    return evolve(plugin, competition=_summary(read_facts(plugin.origin.parent)))


def _flaw(plugin: Plugin) -> str | None:
    """Why the plugin cannot work; None if nothing wrong is found."""
    if plugin.origin is None:
        return f"the module {plugin.module} cannot be found"
    for _, file in plugin.modules:
        if file is not None and (reason := _module_flaw(file, plugin.kind, whole=file == plugin.origin)):
            return reason if file == plugin.origin else f"{file.name}: {reason}"
    return _facts_flaw(plugin) if plugin.kind == "competition" else None


def _module_flaw(file: Path, kind: str, *, whole: bool) -> str | None:
    """``whole``: the required hooks must be in this module."""
    if file.suffix != ".py":  # compiled: only loading shows
        return None
    try:
        tree = _parsed(file)
    except (SyntaxError, ValueError) as error:
        return f"fails to import: {error}"
    except (RecursionError, MemoryError):
        return "fails to import: its code is nested too deep"
    except (OSError, MlecoreError) as error:
        return f"cannot be read: {error}"
    if missing := next((name for name in _imported(tree) if not importable(name.partition(".")[0])), None):
        return f"fails to import: no module named {missing!r}"
    return _hook_flaw(tree, kind, whole=whole)


def _parsed(path: Path) -> ast.Module:
    source = read_regular(path, _LONGEST_MODULE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as those about invalid escapes: they are for the author
        return ast.parse(source, path)


def _facts_flaw(plugin: Plugin) -> str | None:
    from mlecore.facts import read_facts

    assert plugin.origin is not None
    folder = plugin.origin.parent
    try:
        facts = read_facts(folder)
    except (OSError, MlecoreError) as error:
        return str(error)
    if facts.id != plugin.name:
        return f"competition.toml says id = {facts.id!r}, the entry point {plugin.name!r}"
    for name in facts.editions:
        for module, file in plugin.edition_modules(name)[:1]:
            if module != plugin.module and file and (reason := _module_flaw(file, plugin.kind, whole=False)):
                return f"{file.name}: {reason}"
    return _description_flaw(folder / "description.md")


def _summary(facts: Facts) -> CompetitionSummary:
    return CompetitionSummary(
        title=facts.title,
        modality=facts.modality,
        task=facts.task,
        metric=facts.metric,
        direction=facts.direction,
        split=facts.split,
        size_gb=facts.size_gb,
        editions=tuple(facts.editions),
    )


def _description_flaw(path: Path) -> str | None:
    """Why agents cannot be given this description."""
    try:
        text = read_regular(path, _LONGEST_DESCRIPTION).decode("utf-8")
    except FileNotFoundError:
        return f"{path.name} is missing"
    except UnicodeDecodeError as error:
        return f"{path.name} is not UTF-8: {error}"
    except (OSError, MlecoreError) as error:
        return f"{path.name} cannot be read: {error}"
    return None if text.strip() else f"{path.name} is empty"


def _imported(tree: ast.Module) -> Iterator[str]:
    """The modules that the top level imports."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


def _hook_flaw(tree: ast.Module, kind: str, *, whole: bool) -> str | None:
    known, required = _spec(kind)
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
            if reason := _argument_flaw(node, hook, known[hook]):
                return reason
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for name in required:
        if whole and name not in bound:
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


def _argument_flaw(node: ast.FunctionDef | ast.AsyncFunctionDef, hook: str, known: tuple[str, ...]) -> str | None:
    if node.args.defaults or any(node.args.kw_defaults):
        return f"hook {hook}: an argument has a default, so pluggy would not pass it"
    if node.args.kwonlyargs:
        return f"hook {hook}: the argument {node.args.kwonlyargs[0].arg} is keyword-only, so pluggy would not pass it"
    for argument in node.args.args:
        if argument.arg not in known:
            return f"hook {hook}: unknown argument {argument.arg}; available: {', '.join(known)}"
    return None


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
def _spec(kind: str) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Hook name -> its arguments, and the names of the required ones."""
    from mlecore.hookspecs import SPECS

    hooks = {name: hook for name, hook in vars(SPECS[kind]).items() if not name.startswith("_")}
    arguments = {name: tuple(signature(hook).parameters)[1:] for name, hook in hooks.items()}
    return arguments, tuple(name for name, hook in hooks.items() if getattr(hook, "required", False))
