"""Which public files can be renamed, and why a competition cannot be."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from attrs import frozen

from mlecore.errors import UsageError
from mlecore.model.facts import Facts

DESCRIPTION = "description.md"
DELIMITED = (".csv", ".tsv")
RECORDS = (".json", ".jsonl", ".ndjson")
TEXTS = (".txt", ".xyz")
ARCHIVES = (".zip", ".7z", ".gz")
_DOCUMENTS = (".rtf", ".pdf", ".docx", ".md")  # for people: they are left out
_FEW = 3


@frozen(kw_only=True)
class Source:
    """One file of data."""

    place: PurePosixPath  # of the file, or of the archive that holds it, below the public folder
    member: str | None  # of that archive
    path: Path  # where it can be read

    @property
    def name(self) -> str:
        return PurePosixPath(self.member).name if self.member else self.place.name

    @property
    def in_folder(self) -> bool:
        """Is it one of many files with one id each? Tables of all ids lie at the top."""
        return self.member is None and len(self.place.parts) > 1


def require_tables(facts: Facts, public: Path) -> None:
    """Raises UsageError, with the reason, for a competition that cannot be renamed. Reads no data."""
    others = []
    for path in _files(public):
        if why := _odd(path.relative_to(public), path):
            others.append(why)
        if len(others) > _FEW:
            break
    if others:
        shown = ", ".join(others[:_FEW]) + (" ..." if len(others) > _FEW else "")
        raise impossible(facts, f"its public data are not tables and texts alone: {shown}")
    if not facts.submission.id:
        raise impossible(facts, "its submissions name no rows by an id")
    if odd := [name for name, column in facts.submission.columns.items() if column.type in ("mask", "records")]:
        raise impossible(
            facts, f"its column {odd[0]} holds {facts.submission.columns[odd[0]].type} with names of their own"
        )


def impossible(facts: Facts, why: str) -> UsageError:
    """The error for a competition that cannot be renamed."""
    return UsageError(
        f"{facts.id} cannot be obfuscated in full: {why}",
        fix="Leave it out, or hide its description alone: --obfuscate description",
    )


def sources(public: Path, unpacked: Path) -> Iterator[Source]:
    """All data of ``public``, in order of their names; what archives hold is written below ``unpacked``."""
    from mlecore_toolkit.prepare.archives import extract

    for number, path in enumerate(_files(public)):
        place = PurePosixPath(path.relative_to(public).as_posix())
        if path.suffix in _DOCUMENTS:
            continue
        if path.suffix not in ARCHIVES:
            yield Source(place=place, member=None, path=path)
            continue
        for position, member in enumerate(members(path)):
            target = unpacked / f"{number}-{position}{PurePosixPath(member).suffix}"
            if path.suffix == ".gz":
                with gzip.open(path) as packed, target.open("xb") as plain:
                    shutil.copyfileobj(packed, plain, 1 << 20)
            else:
                extract(path, unpacked, {member: target.name})
            yield Source(place=place, member=member, path=target)


def members(archive: Path) -> list[str]:
    """Raises DataError for a damaged archive."""
    from mlecore_toolkit.prepare import archives

    return [archive.stem] if archive.suffix == ".gz" else archives.members(archive)


def _files(public: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(public):
        folders.sort()
        for name in sorted(names):
            if (path := Path(folder, name)) != public / DESCRIPTION:
                yield path


def _odd(place: Path, path: Path) -> str | None:
    """What to call a file that cannot be renamed; None if it can be."""
    nested = len(place.parts) > 1
    if path.suffix in ARCHIVES and not nested:
        held = members(path)
        wrong = [name for name in held if PurePosixPath(name).suffix not in (*DELIMITED, *RECORDS, *TEXTS)]
        return f"{place} with {wrong[0]}" if wrong else None if held else f"{place}, which is empty"
    allowed = (*DELIMITED, *TEXTS, *_DOCUMENTS, *(() if nested else RECORDS))
    return None if path.suffix in allowed else place.as_posix()
