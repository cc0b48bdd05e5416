"""Files of a split: hard links to the raw files, which are never modified; copies if a link is not possible."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from mlecore.errors import DataError
from mlecore.util.files import write_all
from mlecore_toolkit.name_lengths import writing_below
from mlecore_toolkit.prepare.paths import file_name, safe_name

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
# another device, too many links, not ours to link (protected_hardlinks), a file system without links
_NO_LINKS = {errno.EXDEV, errno.EMLINK, errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def link_file(source: Path, target: Path) -> None:
    """``target`` becomes the same file as ``source``; folders are made. Never write to either afterwards.

    Raises DataError when the source is missing or no regular file, and when the target already exists.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _link(str(source), str(target))


def copy_file(source: Path, target: Path) -> None:
    """A copy with another inode and other times than ``source``, if these would reveal its label; folders are made.

    Raises DataError when the source is missing or no regular file, and when the target already exists.
    """
    if not source.is_file():
        raise DataError(f"{source} is {'not a regular file' if source.exists() else 'missing'}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        _copy(str(source), str(target))
    except FileExistsError:
        raise DataError(f"{target} already exists") from None


def link_files(source: Path, target: Path, names: Iterable[str] | Mapping[str, str]) -> int:
    """Link files of folder ``source`` into folder ``target``; returns how many.

    ``names`` are paths relative to both folders, a repeated one counting once; a mapping renames, old name to new
    name. Folders are made. Raises DataError when one is missing or would be outside.
    """
    renamed = names if isinstance(names, Mapping) else {name: name for name in names}
    folders: set[str] = set()
    for old, new in renamed.items():
        path = f"{target}/{file_name(new)}"  # a tenth of the time of Path
        folder = path.rpartition("/")[0]
        if folder not in folders:
            Path(folder).mkdir(parents=True, exist_ok=True)
            folders.add(folder)
        _link(f"{source}/{old if old is new else safe_name(old)}", path)
    return len(renamed)


def link_tree(source: Path, target: Path) -> int:
    """Link every file below folder ``source``, at its relative path, into ``target``; returns how many.

    Empty folders are included.
    """
    if not source.is_dir():
        raise DataError(f"the folder {source} is missing")
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    with os.scandir(source) as entries:
        for entry in entries:
            path = target / entry.name
            if entry.is_dir():
                count += link_tree(Path(entry.path), path)
            else:
                _link(entry.path, str(path))
                count += 1
    return count


def _link(source: str, target: str) -> None:
    try:
        mode = os.lstat(source).st_mode
        if stat.S_ISLNK(mode):  # the user made raw data of links: take what they lead to
            source = os.path.realpath(source)
            mode = os.stat(source).st_mode  # noqa: PTH116
        if not stat.S_ISREG(mode):
            raise DataError(f"{source} is not a regular file")
        os.link(source, target)
    except FileNotFoundError:
        raise DataError(f"{source} is missing") from None
    except FileExistsError:
        raise DataError(f"{target} already exists") from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _copy(source, target)


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as reader, open(target, "xb") as writer:  # noqa: PTH123
        shutil.copyfileobj(reader, writer, 1 << 20)


class NewFiles:
    """Writes files below a folder, which must not exist; makes each of their folders once."""

    def __init__(self, into: Path, source: Path) -> None:
        self._into = into
        self._source = source  # that they come from
        self._folders: set[str] = set()

    def open(self, name: str) -> int:
        """A descriptor of one file. Raises DataError for a name that leads out of the folder, or one that exists."""
        path = f"{self._into}/{file_name(name, f'{self._source}: ')}"
        folder = path.rpartition("/")[0]
        with writing_below(self._source):
            if folder not in self._folders:
                Path(folder).mkdir(parents=True, exist_ok=True)
                self._folders.add(folder)
            try:
                return os.open(path, _NEW, 0o666)
            except FileExistsError:
                raise DataError(f"{path} already exists") from None

    def write(self, name: str, content: Iterable[bytes]) -> None:
        """One file, from pieces, see ``open``."""
        out = self.open(name)
        try:
            for data in content:
                write_all(out, data)
        finally:
            os.close(out)
