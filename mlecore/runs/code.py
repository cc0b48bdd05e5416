"""The code that an agent left in a run's folder, for detectors. It may be hostile: every read is bounded, and skipped
files are listed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from mlecore.errors import DataError
from mlecore.model.detectors import NotRead
from mlecore.util.printable import printable
from mlecore.util.regular import read_regular

PYTHON = (".py", ".ipynb")
CODE = (*PYTHON, ".r", ".rmd", ".jl", ".sh", ".sql", ".cpp", ".c", ".js", ".ts", ".rs", ".go", ".java")
PACKED = "it runs code that it unpacks"
FOLDERS = ("code", "submission", "logs")
_UNPACKS = re.compile(r"\b(?:zlib|gzip|bz2|lzma|marshal|(?:b64|b85|a85)decode|unhexlify|fromhex)\b")
_RUNS = re.compile(r"(?<![.\w])(?:exec|eval|compile)\s*\(")
_LARGEST = 4 * 2**20  # bytes of one file
_MOST = 5000  # files
_LOOKED_AT = 200_000  # names in all


@frozen(kw_only=True)
class CodeFile:
    """One file. A notebook's text is the script that ``script`` makes of it."""

    path: str  # relative to the run's folder
    text: str


def code_files(folder: Path, not_read: list[NotRead]) -> Iterator[CodeFile]:
    """The code files of a run, in order of their paths.

    Files that cannot be read, or that unpack code and run it, are added to ``not_read``.
    """
    found = 0
    for path in paths(folder, FOLDERS):
        if path.suffix.lower() in CODE:
            name = path.relative_to(folder).as_posix()
            if found == _MOST:
                not_read.append(NotRead(file=printable(name), why=f"it and those after it: {_MOST} files were read"))
                return
            try:
                text = read_code(path, folder)
            except (DataError, OSError) as error:
                not_read.append(NotRead(file=printable(name), why=printable(str(error))))
                continue
            if runs_packed(text):
                not_read.append(NotRead(file=printable(name), why=PACKED))
            yield CodeFile(path=name, text=text)
            found += 1


def runs_packed(text: str) -> bool:
    """Does the code unpack other code and run it? That code cannot be read."""
    return bool(_UNPACKS.search(text) and _RUNS.search(text))


def read_code(path: Path, below: Path) -> str:
    """The text of a code file, or the script of a notebook; the raw text of a broken notebook.

    Raises DataError if it is no regular file or larger than 4 MiB, and OSError.
    """
    content = read_regular(path, _LARGEST, below=below)
    if path.suffix.lower() == ".ipynb":
        with contextlib.suppress(ValueError, RecursionError):
            return script(content)
    return content.decode("utf-8", "replace")


def paths(folder: Path, below: Sequence[str]) -> Iterator[Path]:
    """All paths below these folders of a run, in order, except folders; follows no link to a folder."""
    seen = 0
    for name in below:
        if (folder / name).is_symlink():
            yield folder / name
            continue
        for where, folders, names in os.walk(folder / name):
            folders.sort()
            for each in sorted([*names, *(name for name in folders if Path(where, name).is_symlink())]):
                seen += 1
                if seen > _LOOKED_AT:
                    return
                yield Path(where, each)


def script(notebook: bytes) -> str:
    """A notebook as one script: its code cells; magics, shell lines, prose and printed output become comments.

    Raises ValueError or RecursionError if it is no notebook.
    """
    cells = json.loads(notebook)
    if isinstance(cells, dict):
        sheets = cells.get("worksheets")
        old = [cell for sheet in sheets for cell in _cells(sheet)] if isinstance(sheets, list) else None
        cells = cells.get("cells", old)
    if not isinstance(cells, list):
        raise ValueError("it has no cells")
    texts = []
    for cell in cells:
        if isinstance(cell, dict):
            lines = _text(cell.get("source", cell.get("input", ""))).splitlines()
            is_code = cell.get("cell_type") == "code"
            texts.append(
                "\n".join(line if is_code and line.lstrip()[:1] not in ("%", "!") else f"# {line}" for line in lines)
            )
            texts += ["\n".join(f"# {line}" for line in output.splitlines()) for output in _outputs(cell)]
    return "\n\n".join(filter(None, texts)) + "\n"


def _cells(sheet: object) -> Sequence[object]:
    cells = sheet.get("cells") if isinstance(sheet, dict) else None
    return cells if isinstance(cells, list) else ()


def _outputs(cell: Mapping[str, Any]) -> Iterator[str]:
    """The printed output of a cell, without pictures."""
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            data = output.get("data")
            plain = data.get("text/plain") if isinstance(data, dict) else None
            yield from map(_text, filter(None, (output.get("text"), plain, output.get("traceback"))))


def _text(lines: object) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines)
