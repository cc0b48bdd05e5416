"""Pages about files, from the classes that the files are read into.

A key's type and default are its field's, its meaning is the comment beside or above the field. What others than mlecore
read, the statement of a signature, also gets a JSON Schema.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Union, get_args, get_origin

import attrs
from mle_ext_sharing.statement import Statement

from mlecore.model.facts import Facts
from mlecore.model.findings import Findings
from mlecore.model.plan import Plan
from mlecore.model.record import RunRecord
from mlecore.model.report import Report
from mlecore.runs.cancelled import Cancelled
from mlecore.runs.store import GroupInfo
from mlecore.util.schema import keys, written

REFUSED = "An unknown key, a missing one or a value of a wrong type is an error that names the file and the key."
KEPT = "Unknown keys from a newer mlecore are kept; a missing one or a value of a wrong type is an error."
PAGES: Mapping[str, tuple[type, str, str]] = {
    "competition": (Facts, "competition.toml", f"A competition's facts, beside its module. {REFUSED}"),
    "plan": (Plan, "plan.toml", f"A plan, for `mlecore run --plan`; each group has its own. {REFUSED}"),
    "run": (RunRecord, "run.json", f"The record of a run, in its folder. {KEPT}"),
    "grade": (Report, "grade.json", f"The report of a graded run, in its folder. {KEPT}"),
    "findings": (
        Findings,
        "findings/<detector>.json",
        f"The findings of a detector, in the run's folder; one file per detector. {KEPT}",
    ),
    "group": (GroupInfo, "group.json", f"The file that identifies a folder as a group of runs. {KEPT}"),
    "cancelled": (
        Cancelled,
        "cancelled.json",
        "The runs of a group that were cancelled before they began; if a run has a run.json, its state is there. "
        f"{KEPT}",
    ),
    "statement": (
        Statement,
        "signatures/<name>.json",
        "What a signature on a bundle says, in its folder: an in-toto Statement of the predicate type "
        f"`urn:mlecore:export:v1`. The file's bytes are signed; the signature is beside it (`.sig`). {KEPT}",
    ),
}


def page(name: str) -> str:
    """One file's page. Stops where a key has no meaning."""
    cls, file, words = PAGES[name]
    parts = [f"# {file}", words]
    for table, paths in tables(cls).items():
        if table is not cls:
            parts.append(f"## {', '.join(f'`{path}`' for path in paths)}\n\n{inspect.getdoc(table)}")
        parts.append(_table(table))
    return "\n\n".join(parts) + "\n"


def json_schema(name: str) -> str:
    """One file's JSON Schema (2020-12). Unknown keys are allowed, as a newer mlecore may write some."""
    cls, file, words = PAGES[name]
    values = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": file, "description": words}
    return json.dumps(values | _schema(cls), indent=2) + "\n"


def _schema(kind: Any) -> dict[str, Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if attrs.has(kind):
        meanings = comments(kind)
        found = {key.name: {"description": meanings[key.name], **_schema(key.type)} for key in keys(kind)}
        required = [key.name for key in keys(kind) if key.default is attrs.NOTHING]
        return {"type": "object", "properties": found, "required": required}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is tuple:
        return {"type": "array", "items": _schema(parts[0])}
    if origin is get_origin(Mapping[str, str]):
        return {"type": "object", "additionalProperties": _schema(parts[1])}
    if type(None) in parts:
        return {"anyOf": [_schema(part) for part in parts]}
    return {"type": _JSON_NAMES[kind]}


_JSON_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _table(cls: type) -> str:
    meanings = comments(cls)
    if missing := [key.name for key in keys(cls) if not meanings.get(key.name)]:
        raise SystemExit(f"{cls.__module__}.{cls.__name__}: say in comments what these mean: {', '.join(missing)}")
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for key in keys(cls):
        cells = f"`{key.name}`", _type(key.type), _default(key.default), meanings[key.name]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def comments(cls: type) -> dict[str, str]:
    """What the comment beside each field says, or the one above it; fields of its base classes included."""
    found = {name: words for base in cls.__bases__ if attrs.has(base) for name, words in comments(base).items()}
    source = textwrap.dedent(inspect.getsource(cls))
    lines = source.splitlines()
    body = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)).body
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert node.end_lineno is not None and node.end_col_offset is not None
            beside = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
            above = node.lineno - 2
            while lines[above].strip().startswith("#"):
                above -= 1
            texts = [beside] if beside.strip() else lines[above + 1 : node.lineno - 1]
            found[node.target.id] = " ".join(text.strip().lstrip("# ") for text in texts)
    return found


def tables(cls: type) -> dict[type, list[str]]:
    """The class and those of the tables in it, each with the paths where it stands."""
    found: dict[type, list[str]] = {}
    for path, table in _tables(cls, ""):
        found.setdefault(table, []).append(path)
    return found


def _tables(cls: type, path: str) -> Iterator[tuple[str, type]]:
    """The class, and those that its keys hold, each with the path of its key."""
    yield path, cls
    for key in keys(cls):
        for kind, suffix in _within(key.type, ""):
            yield from _tables(kind, f"{path}{'.' if path else ''}{key.name}{suffix}")


def _within(kind: Any, suffix: str) -> Iterator[tuple[type, str]]:
    if attrs.has(kind):
        yield kind, suffix
    elif not written(kind):
        step = {tuple: "[]", Mapping: ".NAME"}.get(get_origin(kind) or kind, "")
        if get_origin(kind) is get_origin(Mapping[str, str]):
            step = ".NAME"
        for part in get_args(kind):
            yield from _within(part, suffix + step)


def _type(kind: Any) -> str:
    if note := written(kind):
        return note.words
    origin, parts = get_origin(kind), get_args(kind)
    if attrs.has(kind):
        return "table"
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    if origin is tuple:
        return f"list of {_type(parts[0])}"
    if origin is get_origin(Mapping[str, str]):
        return "table" if parts[1] is Any else f"table of {_type(parts[1])}"
    if type(None) in parts:  # an optional value
        (inner,) = (part for part in parts if part is not type(None))
        return _type(inner)
    assert origin is not Union and kind in _NAMES, kind
    return _NAMES[kind]


_NAMES = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def _default(value: Any) -> str:
    if value is attrs.NOTHING:
        return "required"
    if isinstance(value, attrs.Factory) or attrs.has(type(value)) or value in (None, (), ""):  # type: ignore[arg-type]
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{list(value) if isinstance(value, tuple) else value!r}`"
