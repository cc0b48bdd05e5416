"""Public files as an agent could read them: all names, tables as text, members of archives."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_LARGEST = 64 << 20  # bytes of a table that is read
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": ","}


def names(root: Path, folder: Path) -> Iterator[str]:
    """Path relative to ``root`` of every file below ``folder``, and of members of archives: ``x.zip!train/1.jpg``."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(root).as_posix()
        yield name
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield from (f"{name}!{member}" for member in archive.namelist())


def tables(root: Path, folder: Path) -> Iterator[tuple[str, DataFrame]]:
    """Every table below ``folder``, each cell as text, with its path relative to ``root``."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix.lower() in _SEPARATORS and path.is_file() and path.stat().st_size <= _LARGEST:
            with path.open("rb") as file:
                yield from _read(name, file)
        elif path.is_file() and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    if Path(info.filename).suffix.lower() in _SEPARATORS and info.file_size <= _LARGEST:
                        yield from _read(f"{name}!{info.filename}", io.BytesIO(archive.read(info)))


def _read(name: str, file: IO[bytes]) -> Iterator[tuple[str, DataFrame]]:
    import pandas as pd

    try:
        frame = pd.read_csv(file, sep=_SEPARATORS[Path(name).suffix.lower()], dtype=str, keep_default_na=False)
    except ValueError:  # some text files are not tables
        return
    yield name, frame
