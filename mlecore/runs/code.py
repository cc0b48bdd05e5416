"""The code that an agent left in a run's folder, for detectors. It may be hostile: every read is bounded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen

from mlecore import files
from mlecore.errors import DataError

PYTHON = (".py", ".ipynb")
CODE = (*PYTHON, ".r", ".rmd", ".jl", ".sh", ".sql", ".cpp", ".c", ".js", ".ts", ".rs", ".go", ".java")
FOLDERS = ("code", "submission", "logs")
_LARGEST = 4 * 2**20  # bytes of one file
_MOST = 5000  # files
_LOOKED_AT = 200_000  # names in all


@frozen(kw_only=True)
class CodeFile:
    """One file. A notebook's text is the script of its code cells, one after the other."""

    path: str  # relative to the run's folder
    text: str

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def code_files(folder: Path, suffixes: Sequence[str] = CODE) -> Iterator[CodeFile]:
    """The code files of a run, in order of their paths; links, huge files and broken notebooks are left out."""
    found = 0
    for path in paths(folder, FOLDERS):
        if path.suffix.lower() in suffixes:
            try:
                content = files.read_regular(path, _LARGEST, below=folder)
                text = script(content) if path.suffix.lower() == ".ipynb" else content.decode("utf-8", "replace")
            except (DataError, OSError, ValueError, RecursionError):
                continue
            yield CodeFile(path=path.relative_to(folder).as_posix(), text=text)
            found += 1
            if found == _MOST:
                return


def paths(folder: Path, below: Sequence[str]) -> Iterator[Path]:
    """Everything that is no folder below these folders of a run, in order; no link to a folder is followed."""
    seen = 0
    for name in below:
        if (folder / name).is_symlink():
            continue
        for where, folders, names in os.walk(folder / name):
            folders.sort()
            for each in sorted(names):
                seen += 1
                if seen > _LOOKED_AT:
                    return
                yield Path(where, each)


def script(notebook: bytes) -> str:
    """A notebook's code cells as one script; magics and shell lines become comments. Raises ValueError."""
    cells = json.loads(notebook)
    if isinstance(cells, dict):
        cells = cells.get("cells") or [
            cell
            for sheet in cells.get("worksheets") or []
            if isinstance(sheet, dict)
            for cell in sheet.get("cells", [])
        ]
    if not isinstance(cells, list):
        raise ValueError("it has no cells")
    texts = []
    for cell in cells:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            lines = "".join(map(str, source)) if isinstance(source, list) else str(source)
            texts.append(
                "\n".join(f"# {line}" if line.lstrip()[:1] in ("%", "!") else line for line in lines.splitlines())
            )
    return "\n\n".join(texts) + "\n"
