"""Python code where one does not look for it: in texts, in strings of other code, in JSON, in shell scripts.

Everything here may be hostile: work and depth are bounded, and code is never run.
"""

from __future__ import annotations

import ast
import base64
import bz2
import json
import lzma
import re
import textwrap
import warnings
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from attrs import frozen

from mlecore.runs.code import script

_SHORTEST = 120  # characters of a string that may be code
_FEWEST = 5  # lines of code
_SHARE = 0.4  # of the lines must look like code
_DEPTH = 3  # of code in strings of code in strings
_MOST = 200  # pieces of code in one file
_STATEMENT = re.compile(
    r"""\s*(?:(?:import|from|def|class|for|while|if|elif|with|return|assert|print|except|raise|del)\b[^.!?]*[\w)\]:,'"]\s*$
    |(?:else|try|finally)\s*:|@\w|[A-Za-z_][\w.\[\]'", :]*\s*[-+*/|&]?=(?!=)\s*\S|[A-Za-z_][\w.]*\(.*[)\[({,]\s*$)""",
    re.VERBOSE,
)
_LINE = 300  # characters of a line that are looked at
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_HEREDOC = re.compile(r"<<-?[ \t]*['\"]?(\w+)")
_TRIPLE = re.compile(r"('''|\"\"\")(.*?)\1", re.DOTALL)
_UNPACK: dict[bytes, Callable[[], Any]] = {
    b"x": zlib.decompressobj,
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ": lzma.LZMADecompressor,
}
_LARGEST = 4 << 20  # bytes of what was packed
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{160,}={0,2}\s*")


@frozen(kw_only=True)
class Embedded:
    """A piece of Python code."""

    text: str
    line: int  # of the file, where it begins


def python_in_text(text: str) -> Iterator[Embedded]:
    """The code in a file that is not Python's: a notebook, blocks, strings of JSON, or all of it."""
    return islice(_in_text(text, 1, _DEPTH), _MOST)


def python_in_strings(code: str) -> Iterator[Embedded]:
    """The code in the strings of Python code, such as a script that writes a script."""
    return islice(_in_code(code, 0, _DEPTH), _MOST)


def looks_like_python(text: str) -> bool:
    """Are there enough lines of it, and do enough of them look like statements?"""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return len(lines) >= _FEWEST and sum(bool(_STATEMENT.match(line[:_LINE])) for line in lines) >= _SHARE * len(lines)


def _in_text(text: str, line: int, depth: int) -> Iterator[Embedded]:
    """``line``: of the file, where the text begins."""
    if depth == 0:
        return
    if (code := _notebook(text)) is not None:
        yield from _code(code, line, depth)
        return
    strings = _json_strings(text)
    if strings:
        for each in strings:
            yield from _in_text(each, line, depth - 1)
        return
    blocks = list(_blocks(text))
    for before, block in blocks:
        if looks_like_python(block):
            yield from _code(block, line + before, depth)
    if not blocks and looks_like_python(text):
        yield from _code(text, line, depth)


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Blocks of Markdown and here-documents of shell scripts, each with the number of lines before it."""
    end, start, block = "", 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if end and line.strip().startswith(end):
            yield start, "\n".join(block) + "\n"
            end = ""
        elif end:
            block.append(line)
        elif found := _FENCE.match(line) or _HEREDOC.search(line[:_LINE]):
            end, start, block = found.group(1), number, []
    if end and block:
        yield start, "\n".join(block) + "\n"


def _code(code: str, line: int, depth: int) -> Iterator[Embedded]:
    yield Embedded(text=textwrap.dedent(code), line=line)
    yield from _in_code(code, line - 1, depth - 1)


def _in_code(code: str, before: int, depth: int) -> Iterator[Embedded]:
    """``before``: lines of the file before the code."""
    if depth == 0:
        return
    for line, text in _strings(code):
        yield from _in_text(textwrap.dedent(text), before + line, depth)


def _strings(code: str) -> Iterator[tuple[int, str]]:
    """Long strings in code, put together where they are added or joined, with their lines."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        for found in _TRIPLE.finditer(code):
            if len(found.group(2)) >= _SHORTEST:
                yield code.count("\n", 0, found.start(2)) + 1, found.group(2)
        return
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        text = _literal(node)
        if text is None:
            waiting += ast.iter_child_nodes(node)
        elif len(text) >= _SHORTEST:
            packed = node.value if isinstance(node, ast.Constant) and isinstance(node.value, bytes) else text
            yield getattr(node, "lineno", 1), _unpacked(packed) or text


def _literal(node: ast.AST) -> str | None:
    """The text that an expression of literals makes; what is put in while it runs is ``x``. None if it is no text."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bytes):
            return node.value.decode("utf-8", "replace")
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [each.value if isinstance(each, ast.Constant) else "x" for each in node.values]
        return "".join(map(str, parts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _added(node)
    if isinstance(node, (ast.List, ast.Tuple)):
        lines = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if len(lines) >= _FEWEST and len(lines) == len(node.elts):
            return "\n".join(line.removesuffix("\n") for line in lines)
    return None


def _added(node: ast.BinOp) -> str | None:
    """By a loop, as hostile code may add more terms than Python recurses."""
    terms: list[str] = []
    left: ast.AST = node
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        right = None if isinstance(left.right, ast.BinOp) else _literal(left.right)
        if right is None:
            return None
        terms.append(right)
        left = left.left
    first = None if isinstance(left, ast.BinOp) else _literal(left)
    return None if first is None else "".join([first, *reversed(terms)])


def _notebook(text: str) -> str | None:
    if '"cells"' not in text and '"worksheets"' not in text:
        return None
    try:
        return script(text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _json_strings(text: str) -> list[str]:
    """The long strings of a JSON document, or of one a line."""
    if not text.lstrip().startswith(("{", "[", '"')):
        return []
    found: list[str] = []
    try:
        waiting = [json.loads(text)]
    except (ValueError, RecursionError):
        waiting = list(_lines_of_json(text))
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and len(value) >= _SHORTEST:
            found.append(value)
        elif isinstance(value, list) and len(value) >= _FEWEST and all(isinstance(each, str) for each in value):
            found.append("\n".join(each.removesuffix("\n") for each in value))  # lines, as notebooks have them
        elif isinstance(value, (list, dict)):
            waiting += value.values() if isinstance(value, dict) else value
    return found


def _lines_of_json(text: str) -> Iterator[object]:
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            continue


def _unpacked(value: str | bytes) -> str | None:
    """The text in base64, zlib, gzip, bz2 or xz, or in base64 of these. None if there is none."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    data = text.encode("latin-1", "replace")
    try:
        if _BASE64.fullmatch(text):
            data = base64.b64decode(text)
        for start, unpack in _UNPACK.items():
            if data.startswith(start):
                return str(unpack().decompress(data, _LARGEST), "utf-8")
        return data.decode() if _BASE64.fullmatch(text) else None
    except (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError):
        return None
