"""What lies in the data folder: tables, images, sounds, plain or inside archives."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO

MOST = 2_000_000  # files looked at
TABLES = {".csv", ".tsv", ".json", ".jsonl"}
IMAGES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".gif", ".webp"}
SOUNDS = {".wav", ".aif", ".aiff"}


@dataclass(frozen=True)
class Source:
    """One file: on the disk, or a member of an archive there."""

    path: Path
    member: str | None
    place: str  # relative to the data, e.g. "train.zip!train/1.jpg"
    size: int

    @property
    def name(self) -> str:
        return PurePosixPath(self.member or self.path.name).name

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def folder(self) -> str:
        """The place without the file's name."""
        return self.place[: -len(self.name)].rstrip("/!")

    def open(self) -> IO[bytes]:
        if self.member is None:
            return self.path.open("rb")
        return archive(self.path).open(self.member)

    def read(self) -> bytes:
        with self.open() as stream:
            return stream.read()


@lru_cache(maxsize=64)
def archive(path: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


@dataclass
class Inventory:
    """All that could be of use, in the order of its place."""

    tables: list[Source] = field(default_factory=list)
    images: list[Source] = field(default_factory=list)
    sounds: list[Source] = field(default_factory=list)


def take(data: Path) -> Inventory:
    found = Inventory()
    for source in files(data):
        suffix = PurePosixPath(source.name).suffix.lower()
        if suffix in TABLES:
            found.tables.append(source)
        elif suffix in IMAGES:
            found.images.append(source)
        elif suffix in SOUNDS:
            found.sounds.append(source)
    return found


def files(data: Path) -> Iterator[Source]:
    """Every file below ``data`` and every member of a zip archive there, bounded."""
    seen = 0
    for folder, names, members in os.walk(data):
        names.sort()
        for name in sorted(members):
            path = Path(folder, name)
            place = path.relative_to(data).as_posix()
            inside = list(unpacked(path, place)) if path.suffix.lower() == ".zip" else []
            for source in inside or [Source(path, None, place, path.stat().st_size)]:
                seen += 1
                if seen > MOST:
                    return
                yield source


def unpacked(path: Path, place: str) -> Iterator[Source]:
    try:
        members = archive(path).infolist()
    except (zipfile.BadZipFile, OSError):
        return
    for member in members:
        if not member.is_dir() and not PurePosixPath(member.filename).name.startswith("."):
            yield Source(path, member.filename, f"{place}!{member.filename}", member.file_size)


def lines(source: Source) -> IO[str]:
    """A table's text; Latin-1 where it is not UTF-8."""
    with source.open() as stream:
        start = stream.read(1 << 20)
    try:
        start.decode("utf-8")
        encoding = "utf-8-sig"
    except UnicodeDecodeError as error:
        encoding = "utf-8-sig" if error.start > len(start) - 4 else "latin-1"  # a character cut in two
    return io.TextIOWrapper(source.open(), encoding=encoding, errors="replace", newline="")
