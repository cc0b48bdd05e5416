"""Python code to compare: as it is shown, and without what everybody writes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from mlecore import files
from mlecore.errors import DataError
from mlecore.runs.code import PYTHON, code_files, script
from mlecore.runs.record import RunRecord

_LARGEST = 4 * 2**20  # bytes of one file
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t][^\n(\\]*(?:\([^)]*\)|(?:\\\n[^\n\\]*)+)?[^\n]*", re.MULTILINE)
_FENCED = re.compile(r"^```(?:python|py)?[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@frozen(kw_only=True)
class Script:
    """One file."""

    name: str  # its path
    text: str
    of: str = ""  # what it belongs to, where that is not the run

    @property
    def compared(self) -> str:
        """Its text without imports, line by line where it was."""
        return _IMPORT.sub(lambda found: re.sub(r"[^\n]+", "", found.group()), self.text)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()


def scripts_of(run: RunRecord) -> list[Script]:
    """A run's Python files and notebooks; copies of one text only once."""
    found: dict[str, Script] = {}
    for file in code_files(run.folder, PYTHON):
        each = Script(name=file.path, text=file.text)
        found.setdefault(each.digest, each)
    return list(found.values())


def read_script(path: Path) -> str | None:
    """A file of references as text; None for what is no code that can be read."""
    try:
        content = files.read_regular(path, _LARGEST)
        return script(content) if path.suffix.lower() == ".ipynb" else content.decode("utf-8", "replace")
    except (DataError, OSError, ValueError, RecursionError):
        return None


def handed_out(public: Path | None) -> str:
    """Code that every run is given: scripts among the public data, and code blocks of the description."""
    return "\n".join(_handed_out(public)) if public is not None else ""


def _handed_out(public: Path) -> Iterator[str]:
    try:
        yield from _FENCED.findall((public / "description.md").read_text(encoding="utf-8", errors="replace"))
        candidates = sorted(path for path in public.iterdir() if path.suffix.lower() in PYTHON)
    except OSError:
        return
    yield from filter(None, map(read_script, candidates))
