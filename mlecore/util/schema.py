"""Files as values: TOML and JSON become attrs classes; an error names the key that does not fit.

The classes are the schema: a field's type defines the allowed values, its default applies without the key, and the
comment next to it is its meaning. `make docs` generates pages about files from them. cattrs does the work; it is
imported when the first file is read.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args, get_origin

import attrs
from attrs import frozen

from mlecore.errors import DataError, MlecoreError
from mlecore.util.regular import read_regular

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")

NOT_IN_FILE: Final = {"in_file": False}
"""Metadata of a field that is not a key of the file, such as the folder where it lies."""

LIMIT: Final = 16 * 2**20  # bytes; no file here is that long
_DOTS = 300  # dots on one line of TOML: a key with n parts takes n * n memory
_LEVELS = 100  # nested tables and lists
_DIGITS = 20  # digits of a 64-bit number, with its sign
_SHOWN = 3  # problems that a message names


class SchemaError(DataError):
    """A file, or a part of it, does not fit its schema; the message names the keys."""


@frozen
class Written:
    """How people write a value, if its type is not enough: ``Annotated[float, Written(duration, "...")]``.

    ``read`` returns the value, or raises an MlecoreError with the problem.
    """

    read: Callable[[Any], Any]
    words: str


def read_toml(path: Path, limit: int = LIMIT, *, below: Path | None = None) -> dict[str, Any]:
    """A TOML file of at most ``limit`` bytes. ``below``: a folder above it, from which on no link is followed. Raises
    SchemaError that names the file, OSError."""
    return _read(path, parse_toml, limit, below)


def read_json(path: Path, *, below: Path | None = None, finite: bool = True) -> Any:
    """A JSON file; ``below`` as with ``read_toml``, ``finite`` as with ``parse_json``. Raises SchemaError that names
    it, OSError."""
    return _read(path, partial(parse_json, finite=finite), LIMIT, below)


def _read(path: Path, parse: Callable[[bytes], T], limit: int, below: Path | None) -> T:
    try:
        return parse(read_regular(path, limit, below=below))
    except DataError as error:
        raise SchemaError(f"{path}: {error.message}") from None


def parse_toml(content: bytes) -> dict[str, Any]:
    """TOML as plain values. Raises SchemaError."""
    import tomllib

    if any(line.count(b".") > _DOTS for line in content.splitlines()):
        raise SchemaError("it is nested too deep")
    return _parsed(lambda: tomllib.loads(content.decode("utf-8")), "TOML")


def parse_json(content: bytes, *, finite: bool = True) -> Any:
    """JSON as plain values, with lone surrogates spelled out, because they cannot be written again.

    Raises SchemaError, with ``finite`` also for NaN and numbers that fit neither 64 bits nor a float.
    """
    hooks: Any = {"parse_int": _whole, "parse_float": _finite, "parse_constant": _finite} if finite else {}
    values = _parsed(lambda: json.loads(content.decode("utf-8-sig"), **hooks), "JSON")
    return _spelled_out(values) if re.search(rb"\\u[dD]", content) else values


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS or not -(2**63) <= (number := int(digits)) < 2**63:
        raise ValueError(f"{brief(digits)} is too large a number")
    return number


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{brief(text)} is no finite number")
    return number


def _spelled_out(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list):
        return [*map(_spelled_out, value)]
    return {_spelled_out(key): _spelled_out(item) for key, item in value.items()} if isinstance(value, dict) else value


def _parsed(parse: Callable[[], T], what: str) -> T:
    """Parse; raises SchemaError, also for nesting too deep for the recursive steps that follow."""
    try:
        value = parse()
        level: list[Any] = [value]
        for _ in range(_LEVELS):
            lists = [
                each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list))
            ]
            if not (level := [item for items in lists for item in items]):
                return value
        raise RecursionError
    except RecursionError:
        raise SchemaError("it is nested too deep") from None
    except ValueError as error:  # includes UnicodeDecodeError and numbers with too many digits
        raise SchemaError(f"it is not {what}: {error}") from None


def structure(cls: type[T], values: object) -> T:
    """Plain values as ``cls``. Raises SchemaError for unknown or missing keys and values of the wrong type."""
    return _structure(cls, values, refuse_unknown=True)


def structure_newer(cls: type[T], values: object) -> T:
    """The same for a file that a newer version may have written. Unknown keys are kept in the field ``extra``."""
    try:
        return structure(cls, values)
    except SchemaError:
        value: Any = _structure(cls, values, refuse_unknown=False)
    try:
        kept: T = attrs.evolve(value, extra=_left_over(values, plain(value)))
    except RecursionError:
        raise SchemaError("it is nested too deep") from None
    return kept


def read_newer(cls: type[T], path: Path, *, below: Path | None = None) -> T:
    """A JSON file as ``cls``, unknown keys kept. Raises SchemaError that names it, OSError."""
    values = read_json(path, below=below)
    try:
        return structure_newer(cls, values)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error.message}") from None


def _structure(cls: type[T], values: object, *, refuse_unknown: bool) -> T:
    from cattrs import BaseValidationError

    try:
        return _converter(refuse_unknown).structure(values, cls)
    except BaseValidationError as error:
        found = sorted(_problems(error, ""), key=lambda problem: not problem.startswith("unknown"))
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise SchemaError("; ".join(found[:_SHOWN]) + more) from None
    except _WrongType as error:
        raise SchemaError(f"expected {error.expected}, not {error.value}") from None
    except RecursionError:
        raise SchemaError("it is nested too deep") from None


def plain(value: Any) -> dict[str, Any]:
    """The dictionary of a value's file, including keys from a newer version."""
    found = attrs.asdict(value, filter=lambda attribute, _: _in_file(attribute), value_serializer=_text)
    merged: dict[str, Any] = _merged(found, getattr(value, "extra", {}))
    return merged


def _text(_: object, __: object, value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def keys(cls: type[Any]) -> list[attrs.Attribute[Any]]:
    """The fields of a class that are keys of its file, with their types resolved."""
    return [attribute for attribute in attrs.fields(attrs.resolve_types(cls)) if _in_file(attribute)]


def _in_file(attribute: attrs.Attribute[Any]) -> bool:
    return bool(attribute.metadata.get("in_file", True))


def _left_over(given: Any, known: Any) -> dict[str, Any]:
    """The parts of ``given`` that ``known`` lacks; list items are matched by position."""
    if isinstance(given, list):
        given, known = dict(enumerate(given)), dict(enumerate(known))
    if not isinstance(given, dict) or not isinstance(known, Mapping):
        return {}
    unknown = {key: value for key, value in given.items() if key not in known}
    within = {key: _left_over(value, known[key]) for key, value in given.items() if key in known}
    return unknown | {key: value for key, value in within.items() if value}


def _merged(values: Any, extra: Any) -> Any:
    """``values``, tuples as lists, with the unknown keys of newer versions put back."""
    extra = extra if isinstance(extra, Mapping) else {}
    if isinstance(values, (list, tuple)):
        return [_merged(value, extra.get(number)) for number, value in enumerate(values)]
    if not isinstance(values, Mapping):
        return values
    known = {key: _merged(value, extra.get(key)) for key, value in values.items()}
    return known | {key: value for key, value in extra.items() if key not in known}


class _WrongType(ValueError):
    def __init__(self, value: object, expected: str) -> None:
        self.value = brief(value)
        self.expected = expected


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


def brief(value: object) -> str:
    """A short form of any value, for messages."""
    try:
        return _short.repr(value)
    except ValueError:  # a number with too many digits
        return f"a long {type(value).__name__}"


@cache
def _converter(refuse_unknown: bool) -> Converter:
    """A cattrs converter that converts neither text to numbers nor numbers to text."""
    from cattrs import Converter
    from cattrs.gen import make_dict_structure_fn, override

    converter = Converter(forbid_extra_keys=refuse_unknown)
    scalars = {str: (str, "text"), int: (int, "a whole number"), float: ((int, float), "a number")}
    for kind, (accepted, words) in {**scalars, bool: (bool, "true or false")}.items():
        converter.register_structure_hook(kind, _scalar(kind, accepted, words))

    converter.register_structure_hook(
        Path, lambda value, _: Path(value if isinstance(value, str) else _refuse(value, "text"))
    )

    def one_of(kind: Any) -> Callable[[Any, Any], Any]:
        words = "one of " + ", ".join(map(repr, get_args(kind)))
        return lambda value, _: value if value in get_args(kind) else _refuse(value, words)

    def annotated(kind: Any) -> Callable[[Any, Any], Any]:
        read = written(kind).read  # type: ignore[union-attr]
        return lambda value, _: read(value)

    def sequence(kind: Any) -> Callable[[Any, Any], Any]:
        items: Any = GenericAlias(list, get_args(kind)[:1])
        read = converter.get_structure_hook(items)
        return lambda value, _: (
            tuple(read(value, items)) if isinstance(value, (list, tuple)) else _refuse(value, "a list")
        )

    def mapping(kind: Any) -> Callable[[Any, Any], Any]:
        pairs: Any = GenericAlias(dict, get_args(kind))
        read = converter.get_structure_hook(pairs)
        return lambda value, _: read(value, pairs) if isinstance(value, Mapping) else _refuse(value, "a table")

    def table(cls: Any) -> Callable[[Any, Any], Any]:
        outside: Any = {a.name: override(omit=True) for a in attrs.fields(cls) if not _in_file(a)}
        read = make_dict_structure_fn(cls, converter, **outside)
        return lambda value, _: read(value, cls) if isinstance(value, Mapping) else _refuse(value, "a table")

    for origin, factory in ((tuple, sequence), (Mapping, mapping), (Literal, one_of)):
        converter.register_structure_hook_factory(partial(_has_origin, origin), factory)
    converter.register_structure_hook_factory(attrs.has, table)
    converter.register_structure_hook_factory(lambda kind: written(kind) is not None, annotated)
    return converter


def _has_origin(origin: Any, kind: Any) -> bool:
    return get_origin(kind) is origin


def written(kind: Any) -> Written | None:
    """The ``Written`` of an annotated type, if it has one."""
    return next((note for note in getattr(kind, "__metadata__", ()) if isinstance(note, Written)), None)


def _scalar(kind: type, accepted: Any, words: str) -> Callable[[Any, Any], Any]:
    def read(value: Any, _: Any) -> Any:
        fits = isinstance(value, accepted) and (kind is bool or not isinstance(value, bool))
        if not fits or (isinstance(value, int) and not -(2**63) <= value < 2**63):
            _refuse(value, words)
        return value

    return read


def _refuse(value: object, expected: str) -> Any:
    raise _WrongType(value, expected)


def _problems(error: BaseException, path: str) -> Iterator[str]:
    """Each problem, with the path of its key."""
    from difflib import get_close_matches

    from cattrs import AttributeValidationNote, BaseValidationError, ForbiddenExtraKeysError, IterableValidationNote

    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            path = f"{path}.{note.name}" if path else note.name
        elif isinstance(note, IterableValidationNote):
            path += f"[{note.index}]" if isinstance(note.index, int) else f".{_key(note.index)}"
    if isinstance(error, BaseValidationError):
        for inner in error.exceptions:
            yield from _problems(inner, path)
    elif isinstance(error, ForbiddenExtraKeysError):
        known = [attribute.name for attribute in attrs.fields(error.cl) if _in_file(attribute)]
        for key in sorted(error.extra_fields):
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"available: {', '.join(known)}"
            yield f"unknown key {f'{path}.' if path else ''}{_key(key)}; {hint}"
    elif isinstance(error, KeyError):
        yield f"{path} is missing"
    elif isinstance(error, _WrongType):
        yield f"{path} = {error.value}: expected {error.expected}"
    else:
        yield f"{path}{': ' if path else ''}{error.message if isinstance(error, MlecoreError) else error}"


def _key(name: object) -> str:
    text = str(name)
    return text if len(text) < 60 and text.replace("_", "").replace("-", "").isalnum() else brief(text)
