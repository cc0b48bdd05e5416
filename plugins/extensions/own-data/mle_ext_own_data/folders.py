"""Folders: one table beside files, or a folder of files for each class."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve

from mle_ext_own_data import reading
from mle_ext_own_data.draft import CLASS, FILE, Modality, Reading
from mle_ext_own_data.reading import Rows
from mlecore.errors import UsageError
from mlecore.util.schema import brief
from mlecore_toolkit import safe_name

_KINDS: dict[Modality, tuple[str, ...]] = {
    "image": (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".dcm"),
    "audio": (".wav", ".mp3", ".flac", ".ogg", ".m4a", ".aif", ".aiff", ".opus"),
    "text": (".txt", ".md", ".html", ".xml", ".json", ".pdf"),
}
_SAMPLE = 200  # cells that decide whether a column names files
_SHOWN = 3


def read(path: Path, files: Path | None) -> Rows:
    """A table, or a folder; ``files``: the folder with the files that the table names. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"{path} does not exist", fix=_similar(path))
    if not path.is_dir():
        rows = reading.read_table(path)
        return evolve(rows, files=_files(files, path.parent)) if files else rows
    tables = sorted(entry for entry in path.iterdir() if entry.name.lower().endswith(reading.TABLES))
    if any(not _is_text(table) for table in tables):
        tables = [table for table in tables if not _is_text(table)]
    if len(tables) == 1:
        rows = reading.read_table(tables[0])
        return evolve(rows, files=_files(files, path) if files else path.absolute())
    if tables:
        shown = ", ".join(table.name for table in tables[:20])
        fix = f"Name the one with the rows, and the folder of the files: --from {tables[0]} --files {path}"
        raise UsageError(f"{path} has several tables: {shown}", fix=fix)
    return _classes(path)


def _is_text(path: Path) -> bool:
    """Is it a table only if there is no other? Texts beside a table end likewise."""
    return path.name.lower().removesuffix(".gz").endswith(".txt")


def _files(given: Path, beside: Path) -> Path:
    found = next((each for each in (given, beside / given) if each.is_dir()), None)
    if found is None:
        raise UsageError(f"--files {given} is not a folder", fix="Name the folder of the files that the table names.")
    return found.absolute()


def _similar(path: Path) -> str | None:
    from difflib import get_close_matches

    names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, names, n=1)
    return f"Did you mean {path.parent / near[0]}?" if near else None


def _classes(path: Path) -> Rows:
    """Each folder is a class: images/cat/1.png."""
    import polars as pl

    named = [(name, name.partition("/")[0]) for name in walk(path) if "/" in name]
    if len({label for _, label in named}) < 2:
        raise UsageError(
            f"{path} has neither a table ({', '.join(reading.TABLES[:3])}, .parquet) nor a folder for each class",
            fix="Put one table with the answers into it, or each class's files into a folder of that name.",
        )
    frame = pl.DataFrame(named, schema=[FILE, CLASS], orient="row")
    return Rows(frame=frame, reading=Reading(kind="folders"), table=None, files=path.absolute())


def walk(folder: Path) -> Iterator[str]:
    """The relative paths of all files, in order, without hidden ones and links."""
    for where, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith("."))
        base = Path(where).relative_to(folder)
        for name in sorted(names):
            if not name.startswith(".") and not (Path(where) / name).is_symlink():
                yield (base / name).as_posix()


def find(rows: Rows, column: str | None, targets: Sequence[str]) -> tuple[Path, str, str] | None:
    """The folder, the column that names its files, and what its names lack (".png"); None: no column does.

    ``column``: the one that a user named. Raises UsageError if it names files that do not exist.
    """
    if rows.files is None:
        return None
    if rows.table is None:
        return rows.files, FILE, ""
    names = list(walk(rows.files))
    found = _folder_of(
        rows, names, [column] if column else [name for name in rows.frame.columns if name not in targets]
    )
    if found is None and column is None:
        raise UsageError(
            f"no column of {rows.table.name} names the files in {rows.files}", fix="Name it: --file-column COLUMN"
        )
    if found is None:
        cell = rows.frame[column].drop_nulls().cast(str).first() if column else None
        known = f"such as {brief(names[0])}" if names else "it is empty"
        raise UsageError(
            f"column {brief(column)} names files, such as {brief(cell)}, that are not in {rows.files} ({known})",
            fix="Name their folder: --files DIR",
        )
    folder, column, suffix, prefix = found
    known_names = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    cells = rows.frame[column].cast(str)
    lost = [cell for cell in cells if cell is None or f"{cell}{suffix}" not in known_names]
    if lost:
        shown = ", ".join(brief(cell) for cell in lost[:_SHOWN])
        raise UsageError(
            f"{len(lost):,} of {len(cells):,} rows name files that are not in {folder}: {shown}",
            fix="Remove these rows, or add the files.",
        )
    for cell in cells:
        safe_name(cell)
    return folder, column, suffix


def _folder_of(rows: Rows, names: Sequence[str], columns: Sequence[str]) -> tuple[Path, str, str, str] | None:
    """Folder, column, suffix and the folder's path below ``rows.files``: what most cells of the column fit to."""
    assert rows.files is not None
    folders = Counter(name.rpartition("/")[0] for name in names)
    prefixes = ["", *(f"{folder}/" for folder, _ in folders.most_common(20) if folder)]
    endings = ["", *(ending for ending, _ in Counter(Path(name).suffix for name in names).most_common(3) if ending)]
    known, best = set(names), (0, ("", "", ""))
    for column in columns:
        cells = rows.frame[column].drop_nulls().head(_SAMPLE).cast(str, strict=False).to_list()
        for prefix in prefixes:
            for ending in endings:
                hits = sum(f"{prefix}{cell}{ending}" in known for cell in cells)
                if hits > best[0] and hits > len(cells) / 2:
                    best = (hits, (column, ending, prefix))
    if not best[0]:
        return None
    column, ending, prefix = best[1]
    return rows.files / prefix, column, ending, prefix


def modality(names: Sequence[str]) -> Modality:
    """What files are, by their names."""
    endings = Counter(Path(name).suffix.lower() for name in names)
    counts = {kind: sum(endings[ending] for ending in known) for kind, known in _KINDS.items()}
    return max(counts, key=lambda kind: counts[kind]) if any(counts.values()) else "text"
