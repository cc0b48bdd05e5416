"""Checks what plugins declare about themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from mlecore.model.options import Option, OptionType

_OPTION = re.compile(r"[a-z][a-z0-9-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def summary_flaws(summary: object) -> Iterator[str]:
    if not isinstance(summary, str) or not summary.strip():
        yield "its summary is empty"
    elif "\n" in summary or len(summary) > 200:
        yield "its summary is more than one line"


def option_flaws(options: Sequence[Option]) -> Iterator[str]:
    seen: set[str] = set()
    for option in options:
        where = f"option {option.name}"
        if not _OPTION.fullmatch(option.name):
            yield f"{where}: expected small letters, digits and hyphens"
        if option.name in seen:
            yield f"{where} is declared twice"
        seen.add(option.name)
        if not option.help.strip():
            yield f"{where} has no help"
        if option.type not in get_args(OptionType):
            yield f"{where}: type {option.type!r} is not one of {', '.join(get_args(OptionType))}"
        elif option.default is not None and (problem := option.problem(option.default)):
            yield f"{where}: its default {option.default!r} {problem}"
        if option.required and option.default is not None:
            yield f"{where} is required and has a default"


def secret_flaws(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if not VARIABLE.fullmatch(name):
            yield f"secret {name!r} is not the name of an environment variable"


def environment_flaws(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if not VARIABLE.fullmatch(name):
            yield f"{name!r} is not the name of an environment variable"
        elif not isinstance(value, str) or "\0" in value:
            yield f"the value of {name} is not text that an environment can hold"
