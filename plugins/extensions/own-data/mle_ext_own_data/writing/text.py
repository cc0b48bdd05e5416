"""Values as Python, TOML and Markdown have them, whatever their text contains."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

_WIDTH = 120


def quoted(text: str) -> str:
    """A string of Python and of TOML."""
    if '"' in text and "'" not in text and "\\" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def literal(value: Any) -> str:
    """A value in Python."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def call(begin: str, parts: Sequence[str], end: str, indent: int = 0) -> str:
    """``begin`` with its parts and ``end`` on one line if they fit, else a part a line, as ruff formats them."""
    line = " " * indent + begin + ", ".join(parts) + end
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    inner = "".join(f"{' ' * (indent + 4)}{part},\n" for part in parts)
    return f"{' ' * indent}{begin}\n{inner}{' ' * indent}{end}"


def filled(parts: Sequence[str], width: int) -> list[str]:
    """Lines of parts, each part followed by a comma; a part longer than a line has its own."""
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]} {part},".lstrip()
        if len(longer) > width and lines[-1]:
            lines.append(f"{part},")
        else:
            lines[-1] = longer
    return lines


def code(text: str) -> str:
    """A name or value in Markdown's code font, also in a cell of a table."""
    plain = re.sub(r"\s+", " ", text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", plain)), default=0))
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}".replace("|", "\\|")


def listed(items: Iterable[str], last: str = "and") -> str:
    """In words: a, b and c."""
    *most, end = items
    return f"{', '.join(most)} {last} {end}" if most else end
