"""Files that a run left: listed, highlighted, compared. Agents write them, so every read and every time is bounded."""

from __future__ import annotations

import difflib
import json
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import frozen
from markupsafe import Markup, escape

from mlecore.runs.code import CODE, paths, script
from mlecore.util.printable import printable

from .places import OUTPUT, Missing, output_file, read_start

LISTED = 2000  # files of a run
IN_FOLDER = 100  # of a run, in a static folder, where each is a page
SHOWN = 512 << 10  # bytes of a file
_HIGHLIGHTED = 128 << 10  # bytes: Pygments needs a second for a megabyte
_COMPARED = 3000  # lines of each of two files
_LEXERS = {
    ".py": "python",
    ".ipynb": "python",
    ".r": "r",
    ".rmd": "r",
    ".jl": "julia",
    ".sh": "bash",
    ".sql": "sql",
    ".cpp": "cpp",
    ".c": "c",
    ".js": "javascript",
    ".ts": "typescript",
    ".rs": "rust",
    ".go": "go",
    ".java": "java",
    ".json": "json",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
}


@frozen(kw_only=True)
class Listed:
    """A file in a list."""

    path: str
    size: int
    is_code: bool


@frozen(kw_only=True)
class Shown:
    """A file's content as HTML, one piece a line."""

    path: str
    size: int
    lines: list[Markup]
    cut: bool  # there is more


def listed(run: Path, folders: tuple[str, ...] = OUTPUT, most: int = LISTED) -> tuple[list[Listed], bool]:
    """Files of a run by their paths, no links among them; and whether there are more."""
    found: list[Listed] = []
    for path in paths(run, folders):
        try:
            if path.is_symlink() or not path.is_file():
                continue
            size = path.stat().st_size
        except OSError:
            continue
        if len(found) == most:
            return found, True
        found.append(Listed(path=path.relative_to(run).as_posix(), size=size, is_code=path.suffix.lower() in CODE))
    return found, False


def text_of(run: Path, path: str, runs: Path) -> tuple[str, int]:
    """The beginning of a file (of a notebook, its script), and its size in bytes. Raises Missing."""
    content, size = read_start(output_file(run, path), runs, SHOWN)
    if path.lower().endswith(".ipynb"):
        try:
            return script(content), size
        except (ValueError, RecursionError):
            pass
    if b"\x00" in content[:8192]:
        raise Missing(f"{printable(path)} is no text ({size} bytes)")
    return content.decode("utf-8", "replace"), size


def shown(run: Path, path: str, runs: Path) -> Shown:
    """A file with its syntax highlighted. Raises Missing."""
    text, size = text_of(run, path, runs)
    return Shown(path=path, size=size, lines=highlighted(text, path), cut=size > SHOWN)


def highlighted(text: str, path: str) -> list[Markup]:
    """One piece of HTML per line. Names that no lexer is known for, and long texts, stay plain."""
    text = printable(text.replace("\r\n", "\n"), lines=True).removesuffix("\n")
    name = _LEXERS.get(PurePosixPath(path).suffix.lower())
    if name is None or len(text) > _HIGHLIGHTED:
        return [escape(line) for line in text.split("\n")]
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    return [Markup(line) for line in highlight(text, lexer, HtmlFormatter(nowrap=True)).removesuffix("\n").split("\n")]


@cache
def colours() -> str:
    """The style sheet of highlighted code, for light and dark pages."""
    from pygments.formatters import HtmlFormatter

    def rules(style: str) -> str:
        lines = HtmlFormatter(style=style).get_style_defs(".code").splitlines()
        return "\n".join(line for line in lines if line.startswith(".code .") and "background" not in line)

    return f"\n{rules('xcode')}\n@media (prefers-color-scheme: dark) {{\n{rules('github-dark')}\n}}\n"


@frozen(kw_only=True)
class Change:
    """One line of a comparison: kind is "same", "added", "removed" or "place"."""

    kind: str
    text: str


def changes(before: str, after: str) -> tuple[list[Change], bool]:
    """What makes one text of another, with three lines around each change; and whether lines were left out."""
    old, new = before.splitlines(), after.splitlines()
    cut = max(len(old), len(new)) > _COMPARED
    kinds = {"+": "added", "-": "removed", "@": "place", " ": "same"}
    lines = list(difflib.unified_diff(old[:_COMPARED], new[:_COMPARED], lineterm="", n=3))[2:]
    return [Change(kind=kinds.get(line[:1], "same"), text=printable(line)) for line in lines], cut


def pretty(content: bytes) -> str:
    """JSON with an indent; anything else as it is."""
    try:
        value: Any = json.loads(content)
        return json.dumps(value, indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")
