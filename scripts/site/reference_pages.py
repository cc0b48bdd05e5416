"""Pages for publishers of plugins, from docstrings, hook specs and the command line.

Signatures are those in the source; the meaning of a field is the comment beside it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any

import attrs
import click
from schema_pages import comments

from mlecore.cli import main
from mlecore.hookspecs import SPECS


def module_page(name: str) -> str:
    """What a module offers: the names of its ``__all__``, or else its own public classes and functions."""
    module = importlib.import_module(name)
    sections: dict[ModuleType, list[str]] = {}
    for public in _names(module):
        value = getattr(module, public)
        home = importlib.import_module(value.__module__)
        sections.setdefault(home, []).append(_entry(public, value))
    parts = [f"# {name}", prose(module.__doc__)]
    for home, entries in sorted(sections.items(), key=lambda section: section[0].__name__):
        if home is not module:
            parts += [f"## {home.__name__}", prose(home.__doc__)]
        parts += entries
    return "\n\n".join(parts) + "\n"


def _names(module: ModuleType) -> list[str]:
    listed: list[str] | None = getattr(module, "__all__", None)
    if listed is not None:  # without constants, which docstrings explain
        return [name for name in listed if hasattr(getattr(module, name), "__module__")]
    own = inspect.getmembers(module, lambda value: getattr(value, "__module__", "") == module.__name__)
    named = [name for name, value in own if not name.startswith("_") and (inspect.isclass(value) or callable(value))]
    return sorted(named, key=lambda name: inspect.getsourcelines(getattr(module, name))[1])


def _entry(name: str, value: Any) -> str:
    if not inspect.getdoc(value):
        raise SystemExit(f"{value.__module__}.{name} is public: it needs a docstring")
    parts = [f"### {name}", _code(_signature(value)), prose(inspect.getdoc(value))]
    if inspect.isclass(value):
        parts += filter(None, (_fields(value), *map(partial(_method, name), _methods(value))))
    return "\n\n".join(filter(None, parts))


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function


def _method(owner: str, named: tuple[str, Any]) -> str:
    name, function = named
    return f"#### {owner}.{name}\n\n{_code(_signature(function))}\n\n{prose(inspect.getdoc(function))}".rstrip()


def _fields(cls: type) -> str:
    if not attrs.has(cls):
        return ""
    types = _annotations(cls)
    meanings = comments(cls)
    lines = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for field in attrs.fields(cls):
        if not field.name.startswith("_"):
            cells = f"`{field.name}`", f"`{types[field.name]}`", _default(field.default), meanings.get(field.name, "")
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return "\n".join(lines) if len(lines) > 2 else ""


def _annotations(cls: type) -> dict[str, str]:
    """The types of fields as they are written."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if attrs.has(base):
            body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
            assert isinstance(body, ast.ClassDef)
            pairs = (
                node for node in body.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            )
            found |= {ast.unparse(node.target): ast.unparse(node.annotation) for node in pairs}
    return found


def _default(value: Any) -> str:
    if value is attrs.NOTHING:
        return "required"
    if isinstance(value, attrs.Factory):  # type: ignore[arg-type]
        return ""
    return f"`{value!r}`"


def _signature(value: Any) -> str:
    """As it is written, without decorators and body; of a class that has an ``__init__``, that one's."""
    if inspect.isclass(value):
        made = vars(value).get("__init__")
        if attrs.has(value) or made is None:
            return ""
        return _signature(made).replace("def __init__(self, ", f"{value.__name__}(").removesuffix(" -> None")
    node = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    assert isinstance(node, ast.FunctionDef)
    node.body, node.decorator_list = [ast.Expr(ast.Constant(...))], []
    return ast.unparse(node).removesuffix("...").rstrip().removesuffix(":")


def _code(text: str) -> str:
    if len(text) > 100:  # an argument a line
        text = re.sub(r"^(.*?\()(.*)(\).*?)$", _spread, text, count=1)
    return f"```python\n{text}\n```" if text else ""


def _spread(match: re.Match[str]) -> str:
    inner, depth, lines = match[2], 0, [""]
    for character in inner:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            lines.append("")
        else:
            lines[-1] += character
    return match[1] + "".join(f"\n    {line.strip()}," for line in lines) + "\n" + match[3]


def prose(text: str | None) -> str:
    """A docstring as Markdown."""
    text = inspect.cleandoc(text or "").replace("``", "`").replace("\n\n::\n", "\n")
    return re.sub(r"::$", ":", text, flags=re.MULTILINE)


def hooks_page() -> str:
    """Every hook of every kind of plugin."""
    words = "Arguments are passed by name; a plugin declares those that it needs. How to write one: "
    words += "[publishing.md](../publishing.md)."
    parts = ["# Hooks", words]
    for kind, spec in SPECS.items():
        parts += [f"## {kind}", f"Entry-point group `mlecore.{kind}s`. {prose(spec.__doc__)}"]
        for name, hook in vars(spec).items():
            if not name.startswith("_") and inspect.isfunction(hook):
                required = " (required)" if getattr(hook, "required", False) else ""
                signature = _signature(hook).replace("(self, ", "(").replace("(self)", "()")
                parts += [f"### {name}{required}", _code(signature), prose(inspect.getdoc(hook))]
    return "\n\n".join(parts) + "\n"


def commands_page() -> str:
    """Every command of the packages of this repository."""
    words = "Some commands come with a package of their own (entry-point group `mlecore.commands`)."
    parts = ["# Commands", prose(main.help), words]
    context = click.Context(main, info_name="mlecore")
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        parts += _command(command, f"mlecore {name}")
    return "\n\n".join(parts) + "\n"


def _command(command: click.Command, path: str) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    yield f"## {path}"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```\n{path} {usage}\n```"
    yield prose(command.help)
    records = [found for parameter in command.params if (found := parameter.get_help_record(context))]
    if records:
        rows = [f"| `{_cell(option)}` | {_cell(words)} |" for option, words in records if words]
        yield "\n".join(["| option | meaning |", "|---|---|", *rows])
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(inner, f"{path} {name}")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGES: Mapping[str, Callable[[], str]] = {
    "commands": commands_page,
    "hooks": hooks_page,
    **{name: partial(module_page, f"mlecore.model.{name}") for name in ("agents", "backends", "detectors")},
    "toolkit": partial(module_page, "mlecore_toolkit"),
}
