"""Checks that a hook returned the type in its spec: the core relies on it, and nobody type-checks plugins."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs


def result_flaw(hook: str, value: object) -> str | None:
    """Why the result of a hook has a wrong type, or None."""
    kind = _promised(hook)
    return None if kind is None else misfit(value, kind, "the result")


def misfit(value: Any, kind: Any, where: str) -> str | None:
    """Which part of ``value`` does not have the type ``kind``, or None. Looks into collections and attrs classes."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind in (Any, object):
        return None
    if origin in (Union, UnionType):
        found = [misfit(value, part, where) for part in parts]
        inner = (flaw for part, flaw in zip(parts, found, strict=True) if attrs.has(part) and isinstance(value, part))
        return None if None in found else next(inner, _wrong(value, kind, where))
    if origin is Literal:
        return None if value in parts else _wrong(value, kind, where)
    accepted: Any = (int, float) if kind is float else origin or kind
    if not _is(value, accepted) or _looks_like(value, kind):
        return _wrong(value, kind, where)
    if origin is not None and issubclass(origin, Mapping):
        items = [(f"a key of {where}", parts[0], key) for key in value]
        items += [(f"{where}[{_short(key)}]", parts[1], item) for key, item in value.items()]
    elif origin is not None:
        items = [(f"{where}[{number}]", parts[0], item) for number, item in enumerate(value)]
    elif attrs.has(kind):
        items = [(f"{kind.__name__}.{field.name}", field.type, getattr(value, field.name)) for field in _fields(kind)]
    else:
        items = []
    return next((flaw for place, part, item in items if (flaw := misfit(item, part, place))), None)


def _is(value: object, kind: Any) -> bool:
    return isinstance(value, kind)


def _looks_like(value: object, kind: object) -> bool:
    """Python takes True for a number and text for a sequence of texts; here neither counts."""
    if isinstance(value, bool):
        return kind in (int, float)
    return isinstance(value, (str, bytes)) and get_origin(kind) is Sequence


def _wrong(value: object, kind: object, where: str) -> str:
    return f"{where} is {_short(value)}; expected {_words(kind)}"


def _words(kind: Any) -> str:
    """A type as a message shows it."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(map(_words, parts))
    if origin is Literal:
        return f"one of {', '.join(map(repr, parts))}"
    if origin is not None:
        inside = ", ".join("..." if part is ... else _words(part) for part in parts)
        return f"{origin.__name__}[{inside}]"
    return "None" if kind is NoneType else getattr(kind, "__name__", str(kind))


def _short(value: object) -> str:
    try:
        return f"{reprlib.repr(value)} ({type(value).__name__})"
    except Exception:  # a plugin's class may have any repr
        return f"a {type(value).__name__}"


@cache
def _fields(cls: Any) -> tuple[attrs.Attribute[Any], ...]:
    return tuple(attrs.fields(attrs.resolve_types(cls)))


def _promised(hook: str) -> Any:  # imports what it names only: most hooks of a competition promise nothing
    """The return type in ``mlecore.hookspecs``; None if there is none, or if the caller checks it."""
    if hook in ("asked", "perfect"):
        from pandas import DataFrame

        return DataFrame
    if hook == "examine":
        return Sequence[str] | None
    if hook in ("agent", "recipe", "launch", "usage"):
        from mlecore.model import agents

        return {
            "agent": agents.Agent,
            "recipe": agents.Recipe | None,
            "launch": agents.Launch | agents.FinishedSubmission,
            "usage": agents.Usage | None,
        }[hook]
    if hook == "backend":
        from mlecore.model.backends import Backend

        return Backend
    if hook in ("detector", "detect"):
        from mlecore.model import detectors

        return detectors.Detector if hook == "detector" else detectors.Detection
    return None
