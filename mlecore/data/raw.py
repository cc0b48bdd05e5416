"""The raw data from which a competition is prepared: generated, fetched, unpacked, or the user's own folder."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from mlecore.data.estimate import LARGE, estimate
from mlecore.data.layout import DataDirs
from mlecore.data.sources import Archive, Fetch, Kaggle, RawFolder, Source, Synthetic
from mlecore.errors import DataError, UsageError
from mlecore.util import files
from mlecore.util.file_kinds import describe

if TYPE_CHECKING:
    from mlecore.data.hash_cache import HashCache
    from mlecore.model.backends import Progress
    from mlecore.model.competition import Competition


@frozen(kw_only=True)
class Raw:
    """A complete folder of raw data; it is only read."""

    path: Path
    seed: int | None = None
    size: float | None = None
    archive_md5: str | None = None
    known: HashCache | None = None  # hashes of files that were just unpacked
    notes: tuple[str, ...] = ()


def get_raw(competition: Competition, dirs: DataDirs, source: Source, verify: bool, progress: Progress | None) -> Raw:
    """Get the raw data of ``source``. The caller holds the competition's lock."""
    folder = dirs.folder(competition.id)
    match source:
        case Synthetic(seed=seed, size=size):
            seed, size = seed or 0, 1.0 if size is None else size
            path = folder / "synthetic" / "raw"
            if size >= LARGE:
                takes = estimate(competition, folder, seed, size)
                if progress is not None:
                    progress(0, 0, takes)
            _fill(path, lambda raw: competition.make_raw(raw, seed=seed, size=size))
            return Raw(path=path, seed=seed, size=size)
        case Fetch():
            path = folder / "raw"
            _fill(path, competition.fetch)
            return Raw(path=path)
        case RawFolder(path=path):
            if not path.is_dir():
                raise UsageError(f"--raw {path}: no such folder")
            _refuse_links_out(path)
            _require_sources(competition, path)
            return Raw(path=path.absolute())
        case Archive(path=path):
            if not path.is_file():
                fix = f"For an unpacked download: --raw {path}" if path.is_dir() else None
                raise UsageError(f"--archive {path}: it is {'no file' if path.exists() else 'missing'}", fix=fix)
            return _unpacked(competition, folder, path, verify, progress)
        case Kaggle():
            from mlecore.data.kaggle.download import download

            got = download(competition.facts, dirs, verify=verify, progress=progress)
            raw = _unpacked(competition, folder, got.archive, verify, progress)
            return evolve(raw, notes=got.notes + raw.notes)


def drop_raw(dirs: DataDirs, competition: str, source: Source) -> None:
    """Remove raw data that were unpacked, fetched or downloaded for preparing."""
    folder = dirs.folder(competition)
    if isinstance(source, Archive | Fetch | Kaggle):
        files.discard(folder / "raw")
        files.remove(folder / "raw.json")
        files.discard(folder / "sources")
    if isinstance(source, Kaggle):
        from mlecore.data.kaggle.download import drop_download

        drop_download(folder, competition)


def sweep(folder: Path) -> None:
    """Remove unfinished folders of killed processes. The caller holds the competition's lock."""
    for path in (folder / "raw", folder / "sources", folder / "synthetic" / "raw"):
        files.recover(path)
    if not (folder / "raw").exists():
        files.remove(folder / "raw.json")
    for path in folder.glob(".*.tmp"):
        files.remove(path)


def _fill(path: Path, write: Callable[[Path], None]) -> None:
    """Create a raw folder, complete or absent."""
    partial = files.partial(path)
    try:
        partial.parent.mkdir(exist_ok=True, parents=True)
        partial.mkdir(0o700)
        write(partial)
        _freeze(partial)
        files.swap(partial, path)
    except BaseException:
        files.remove(partial)
        raise


def _unpacked(competition: Competition, folder: Path, archive: Path, verify: bool, progress: Progress | None) -> Raw:
    """Unpack ``archive`` into ``raw/``, unless that was unpacked from an archive with the same bytes.

    ``raw.json`` names the archive. It is written just before the folder gets its name, so that a folder with it is
    complete, and one without it was not unpacked by mlecore.
    """
    from concurrent.futures import ThreadPoolExecutor

    from mlecore.data.http import add_sources, archive_md5
    from mlecore.data.nested import refuse_nested_bombs
    from mlecore.data.unpack import unpack

    raw, marker = folder / "raw", folder / "raw.json"
    partial = files.partial(raw)
    expected = competition.facts.md5.get("zip")
    unpacked, known = _marked(raw, marker), None
    with ThreadPoolExecutor(1) as pool:  # hashing one file takes one core: unpack at the same time
        hashing = pool.submit(archive_md5, archive)
        try:
            if unpacked is None:
                known = unpack(archive, partial, progress)
            found = hashing.result()
            if expected is not None and found != expected and verify:
                raise DataError(
                    f"{archive} is not the published download: MD5 {found}, expected {expected}",
                    fix="It may be incomplete, or Kaggle has changed it. Get it again (what mlecore downloaded itself: "
                    "remove it, and prepare again), or use "
                    "it anyway: --skip-verification",
                )
            if unpacked is not None and unpacked != found:
                unpacked = None
                known = unpack(archive, partial, progress)
            if unpacked is None:
                refuse_nested_bombs(partial, competition.facts, archive)
                add_sources(competition.facts, folder, partial, progress)
                _freeze(partial, [source.path for source in competition.facts.sources])  # the rest is read-only
                files.discard(raw)
                files.replace(marker, (json.dumps({"archive_md5": found}) + "\n").encode())
                files.rename(partial, raw)
        except BaseException:
            files.remove(partial)
            raise
    note = f"the download has MD5 {found}; the published one has {expected}"
    return Raw(path=raw, archive_md5=found, known=known, notes=() if expected in (None, found) else (note,))


def _freeze(root: Path, writable: Iterable[str] | None = None) -> None:
    """Make ``root`` and everything below it read-only, for the user alone: it contains the labels of the test rows.

    ``writable``: relative paths of the files that may still be writable; None: any file may.
    """
    for folder, _, names in os.walk(root, topdown=False):
        for path in (f"{folder}/{name}" for name in names if writable is None):
            _freeze_file(path)
        Path(folder).chmod(0o777 & ~files.WRITABLE)
    for name in writable or ():
        _freeze_file(f"{root}/{name}")
    root.chmod(0o700 & ~files.WRITABLE)


def _freeze_file(path: str) -> None:
    if (mode := os.stat(path).st_mode) & files.WRITABLE:  # noqa: PTH116 - a third of the time of Path
        os.chmod(path, mode & ~files.WRITABLE)  # noqa: PTH101


def _marked(raw: Path, marker: Path) -> str | None:
    """The MD5 of the archive that ``raw`` was unpacked from, or None if there is no such folder."""
    if not raw.exists():
        return None
    try:
        return str(json.loads(marker.read_bytes())["archive_md5"])
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            f"{raw} was not unpacked by mlecore, and may have been changed since it was downloaded",
            fix=f"Remove it, or use it as it is: --raw {raw}",
        ) from None


_POINTER = 300  # bytes; a pointer file of Git LFS is smaller
_LARGE_FILES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".zip", ".7z", ".gz", ".tar", ".npy", ".tfrecord")


def _refuse_links_out(raw: Path) -> None:
    """Reject links out of the folder that the user named: plugins read and copy its files."""
    top = raw.resolve()

    def unreadable(error: OSError) -> None:
        raise UsageError(f"--raw: {error.filename} cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(top, onerror=unreadable):
        for name in (*folders, *names):
            path = f"{folder}/{name}"
            status = os.lstat(path)
            mode = status.st_mode
            if stat.S_ISLNK(mode):
                target = Path(os.path.realpath(path))
                if not target.is_relative_to(top) or not target.exists():
                    raise UsageError(
                        f"--raw: {path} is a link to {target}, which is not in {top}",
                        fix="Put a copy, a hard link or a mount in its place.",
                    )
            elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise UsageError(f"--raw: {path} is neither a file nor a folder", fix="Remove it.")
            elif status.st_size < _POINTER and name.endswith(_LARGE_FILES):
                what, fix = describe(Path(path))
                if "Git LFS" in what:
                    raise UsageError(f"--raw: {path} is {what}", fix=fix)


def _require_sources(competition: Competition, raw: Path) -> None:
    missing = [source for source in competition.facts.sources if not (raw / source.path).exists()]
    if missing:
        raise UsageError(
            f"{raw} lacks what {competition.id} needs besides Kaggle's archive: "
            + ", ".join(source.path for source in missing),
            fix="\n".join(f"Put {source.url} there as {source.path}" for source in missing),
        )
