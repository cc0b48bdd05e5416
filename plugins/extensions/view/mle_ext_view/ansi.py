"""What a process printed, as HTML: colours become classes, everything else that controls a terminal goes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from mlecore.util.printable import printable

_SEQUENCE = re.compile(
    r"\x1b(?:\[([0-9;:]*)([@-~])|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[PX^_][^\x1b]{0,4096}\x1b\\|[ -/]*[0-~])"
)
_STYLES = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse"}
_ENDS = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",)}
_LONGEST = 20_000  # characters of a line that are shown


def lines(text: str) -> list[Markup]:
    """One piece of HTML per line; a colour lasts until another one, over lines."""
    style: dict[str, str] = {}
    return [Markup("").join(_line(_last_shown(line), style)) for line in text.split("\n")]


def plain(text: str) -> str:
    """Without colours and other sequences; of a line that was overwritten the last version."""
    return printable(_last_shown(_SEQUENCE.sub("", text)))


def _last_shown(line: str) -> str:
    """A carriage return overwrites the line: of a progress bar, only its end is left."""
    if "\r" in line:
        line = next((part for part in reversed(line.split("\r")) if part), "")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ... ({len(line) - _LONGEST} more characters)"


def _line(line: str, style: dict[str, str]) -> Iterator[Markup]:
    at = 0
    for match in _SEQUENCE.finditer(line):
        yield _span(line[at : match.start()], style)
        at = match.end()
        if match[2] == "m":
            _apply(match[1], style)
    yield _span(line[at:], style)


def _span(text: str, style: dict[str, str]) -> Markup:
    shown = escape("\t".join(map(printable, text.split("\t"))))
    if not text or not style:
        return shown
    return Markup('<span class="{}">{}</span>').format(" ".join(style.values()), shown)


def _apply(codes: str, style: dict[str, str]) -> None:
    """A change of style; 256 and true colours are rounded to the sixteen that have a class."""
    numbers = [int(code) if code.isdigit() and len(code) < 5 else 0 for code in re.split("[;:]", codes)]
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            style.clear()
        elif code in _STYLES:
            style[_STYLES[code]] = f"ansi-{_STYLES[code]}"
        elif code in _ENDS:
            for name in _ENDS[code]:
                style.pop(name, None)
        elif code in (38, 48):
            if (colour := _extended(numbers)) is not None:
                style["fg" if code == 38 else "bg"] = f"ansi-{'fg' if code == 38 else 'bg'}-{colour}"
        elif code in (39, 49):
            style.pop("fg" if code == 39 else "bg", None)
        elif (base := next((base for base in (30, 40, 90, 100) if base <= code < base + 8), None)) is not None:
            kind = "fg" if base in (30, 90) else "bg"
            style[kind] = f"ansi-{kind}-{code - base + (8 if base >= 90 else 0)}"


def _extended(numbers: list[int]) -> int | None:
    kind = numbers.pop(0) if numbers else 0
    if kind == 5 and numbers:
        colour = numbers.pop(0) & 255
        if colour < 16:
            return colour
        if colour >= 232:
            return _nearest(*[8 + 10 * (colour - 232)] * 3)
        cube = colour - 16
        return _nearest(*(51 * (cube // step % 6) for step in (36, 6, 1)))
    if kind == 2 and len(numbers) >= 3:
        red, green, blue = numbers[:3]
        del numbers[:3]
        return _nearest(red, green, blue)
    return None


def _nearest(red: int, green: int, blue: int) -> int:
    bright = max(red, green, blue)
    bits = sum(1 << bit for bit, value in enumerate((red, green, blue)) if value > bright / 2 and bright > 60)
    return bits + (8 if bright > 170 and bits not in (0, 7) else 0)
