"""Python code to compare: as it is shown, and without what everybody writes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from attrs import frozen

from mle_detector_dolos.embedded import Embedded, python_in_strings, python_in_text
from mlecore.errors import DataError
from mlecore.model.detectors import NotRead
from mlecore.model.record import RunRecord
from mlecore.runs.code import CODE, FOLDERS, PACKED, PYTHON, paths, read_code, runs_packed, script
from mlecore.util.printable import printable
from mlecore.util.regular import read_regular

_LARGEST = 4 * 2**20  # bytes of one file
_FILES = 5000  # of a run
_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t][^\n(\\]*(?:\([^)]*\)|(?:\\\n[^\n\\]*)+)?[^\n]*", re.MULTILINE)
_FENCED = re.compile(r"^```(?:python|py)?[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHORT = 1500  # characters of a script that says little by itself


@frozen(kw_only=True)
class Script:
    """Code of one file, or of several together."""

    name: str  # its path
    text: str
    of: str = ""  # what it belongs to, where that is not the run
    line: int | None = None  # of the file, where it stands in a string or a text; None: it is the file
    parts: tuple[Script, ...] = ()  # of which it was put together

    @property
    def compared(self) -> str:
        """Its text without imports, line by line where it was."""
        return _IMPORT.sub(lambda found: re.sub(r"[^\n]+", "", found.group()), self.text)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()

    def place(self, line: int) -> tuple[Script, int]:
        """The part that has this line, and which of its lines it is."""
        for part in self.parts:
            lines = part.text.count("\n") + 1
            if line <= lines:
                return part, line
            line -= lines
        return (self.parts[-1], self.parts[-1].text.count("\n") + 1) if self.parts else (self, line)


def together(parts: Sequence[Script]) -> Script:
    """Several scripts as one."""
    names = list(dict.fromkeys(part.name for part in parts))
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return Script(name=shown, text="\n".join(part.text for part in parts), parts=tuple(parts))


def scripts_of(run: RunRecord, not_read: list[NotRead]) -> list[Script]:
    """A run's Python code: files, notebooks, and what stands in texts and strings; copies of one text only once.

    What may be code and cannot be read is added to ``not_read``.
    """
    found: dict[str, Script] = {}
    listed = list(islice(paths(run.folder, FOLDERS), _FILES + 1))
    if len(listed) > _FILES:
        not_read.append(NotRead(file="...", why=f"the run has more than {_FILES} files; the others were not looked at"))
    for path in listed[:_FILES]:
        for each in _scripts(path, run.folder, not_read):
            found.setdefault(each.digest, each)
    short = [each for each in found.values() if len(each.text) < _SHORT]
    return [*found.values(), *([together(short)] if len(short) > 1 else [])]


def _scripts(path: Path, folder: Path, not_read: list[NotRead]) -> Iterator[Script]:
    name = path.relative_to(folder).as_posix()
    is_python = path.suffix.lower() in PYTHON
    try:
        if is_python:
            text = read_code(path, folder)
            yield Script(name=name, text=text)
            found = list(python_in_strings(text))
            if runs_packed(text) and not found:
                not_read.append(NotRead(file=printable(name), why=PACKED))
            yield from _embedded(name, found)
        elif (content := read_regular(path, _LARGEST, below=folder)) and b"\0" not in content[:4096]:
            yield from _embedded(name, python_in_text(content.decode("utf-8", "replace")))
    except (DataError, OSError) as error:
        if is_python or path.suffix.lower() in (*CODE, ".txt", ".md", ".json", ""):
            not_read.append(NotRead(file=printable(name), why=printable(str(error))))


def _embedded(name: str, found: Iterable[Embedded]) -> Iterator[Script]:
    for each in found:
        yield Script(name=name, text=each.text, line=each.line)


def read_script(path: Path) -> str | None:
    """A file of references as text; None for what is no code that can be read."""
    try:
        content = read_regular(path, _LARGEST)
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
