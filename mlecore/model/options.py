"""Options of plugins: declared once, checked before anything starts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

from attrs import field, fields_dict, frozen

from mlecore.errors import UsageError
from mlecore.util.schema import SchemaError, Written, read_toml

OptionType = Literal["text", "integer", "number", "boolean", "variable"]
"""``variable``: the name of an environment variable, such as one with a key; a detector's process is given it."""

_BOOLEANS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


@frozen(kw_only=True)
class Option:
    """One option, given as ``-A name=value`` (agent), ``-B`` (backend) or ``-D`` (detector)."""

    name: str
    help: str
    type: OptionType = "text"
    default: str | None = None  # None: not set
    required: bool = False
    choices: tuple[str, ...] = ()

    def problem(self, value: str) -> str | None:
        """Why ``value`` does not fit, or None."""
        if self.choices and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}"
        try:
            if self.type == "integer":
                int(value)
            elif self.type == "number":
                float(value)
        except ValueError:
            return f"must be a{'n' if self.type == 'integer' else ''} {self.type}"
        if self.type == "boolean" and value.lower() not in _BOOLEANS:
            return "must be true or false"
        if self.type == "variable" and not names_variable(value):
            return _A_VARIABLE
        return None


_A_VARIABLE = "must be the name of an environment variable, such as MY_API_KEY, not its value"


T = TypeVar("T")


def setting(help: str, parse: Callable[[str], Any] = str, default: str | None = None, **more: Any) -> Any:
    """A field of an attrs class of settings: an option with hyphens in its name, and ``parse``, which reads its text.

    ``parse`` also reads the default; without one, the field of an option that is not given is None. ``more`` is passed
    to Option.
    """
    value = None if default is None else parse(default)
    return field(default=value, metadata={"parse": parse, "option": {"help": help, "default": default or None, **more}})


def declared(settings: type) -> tuple[Option, ...]:
    """The options that are the fields of a class of settings."""
    fields = fields_dict(settings).items()
    return tuple(Option(name=name.replace("_", "-"), **each.metadata["option"]) for name, each in fields)


def read_settings(settings: type[T], given: Mapping[str, str], owner: str) -> T:
    """The settings that options amount to; an empty text counts as not given. Raises UsageError, naming the option."""
    values: dict[str, Any] = {}
    for name, each in fields_dict(cast(Any, settings)).items():
        option = name.replace("_", "-")
        if text := given.get(option):
            try:
                values[name] = each.metadata["parse"](text)
            except (UsageError, ValueError) as error:
                fix = error.fix if isinstance(error, UsageError) else None
                raise UsageError(f"{owner}: option {option}={text}: {error}", fix=fix) from None
    return settings(**values)


def words(text: str) -> tuple[str, ...]:
    """``a,b``, each once."""
    return tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))


def names_variable(value: str) -> bool:
    """Is this a variable's name, rather than the secret itself? If it is not set here, its spelling decides."""
    return value in os.environ or re.fullmatch(r"_?(?:[A-Z]+\d?|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)_?", value) is not None


def variable(value: object) -> str:
    """A variable's name in a file. Raises UsageError without the value, which may be the secret itself."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise UsageError(_A_VARIABLE)
    return value


def variables(value: object) -> tuple[str, ...]:
    """A list of such names. Raises UsageError."""
    if not isinstance(value, (list, tuple)):
        raise UsageError("must be a list of names of environment variables")
    return tuple(map(variable, value))


Variable = Annotated[str, Written(variable, "the name of an environment variable")]
Variables = Annotated[tuple[str, ...], Written(variables, "names of environment variables")]


def boolean(value: str) -> bool:
    """The value of a boolean option's text."""
    return _BOOLEANS[value.lower()]


def pairs(given: Iterable[str], flag: str) -> dict[str, str]:
    """``["name=value", ...]`` of a command line as a dictionary."""
    out = {}
    for number, item in enumerate(given, 1):
        name, equals, value = item.partition("=")
        if not equals or not name:  # which may be a secret without its name
            raise UsageError(f"expected {flag} name=value, and {flag} number {number} has no name")
        out[name] = value
    return out


def pairs_by_plugin(given: Iterable[str], flag: str, only: str | None = None) -> dict[str, dict[str, str]]:
    """``["plugin.name=value", ...]`` of a command line, by plugin; ``name=value`` is for the plugin ``only``."""
    out: dict[str, dict[str, str]] = {}
    for name, value in pairs(given, flag).items():
        plugin, _, option = name.rpartition(".")
        if not option or not (plugin or only):
            raise UsageError(f"{flag} {name}=...: expected {flag} PLUGIN.NAME=VALUE")
        out.setdefault(plugin or only or "", {})[option] = value
    return out


def as_text(given: object) -> dict[str, str]:
    """Options of a file by name, as text as the command line has them; tables and lists as JSON. Raises UsageError."""
    if not isinstance(given, Mapping):
        raise UsageError("expected a table of options")
    out = {}
    for name, value in given.items():
        if isinstance(value, bool):
            out[name] = "true" if value else "false"
        elif isinstance(value, (str, int, float)):
            out[name] = str(value)
        elif isinstance(value, (Mapping, list, tuple)):
            out[name] = _as_json(name, value)
        else:
            raise UsageError(f"{name} must be text, a number, a boolean, a list or a table")
    return out


def _as_json(name: str, value: object) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is a date or a time; put it in quotes") from None


def read_options(path: Path) -> dict[str, str]:
    """Options from a TOML file, such as that of --backend-config. Raises UsageError."""
    try:
        return as_text(read_toml(path))
    except SchemaError as error:
        raise UsageError(error.message) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


Options = Annotated[Mapping[str, str], Written(as_text, "a table of text, numbers, booleans, lists and tables")]


def resolve(declared: Sequence[Option], given: Mapping[str, str], owner: str) -> dict[str, str]:
    """The value of every option that has one: given or default.

    Raises UsageError for an unknown option, a value that does not fit, a required one that is missing;
    ``owner`` names the plugin in it, such as "agent dummy".
    """
    known = {option.name: option for option in declared}
    for name, value in given.items():
        if name not in known:
            offer = f"its options: {', '.join(known)}" if known else "it has no options"
            raise UsageError(f"{owner} has no option {name!r}; {offer}")
        if problem := known[name].problem(value):
            given_value = "" if known[name].type == "variable" else f"={value}"
            raise UsageError(f"{owner}: option {name}{given_value}: {problem}")
    for option in declared:
        if option.required and not given.get(option.name):
            raise UsageError(f"{owner} needs the option {option.name}: {option.help}")
    defaults = {option.name: option.default for option in declared if option.default is not None}
    return {**defaults, **given}
