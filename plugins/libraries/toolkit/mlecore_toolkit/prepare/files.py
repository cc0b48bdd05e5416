"""Puts files into a split: hard links to raw files, which are never modified, or copies if links are impossible."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from mlecore.errors import DataError
from mlecore.util.files import write_all
from mlecore_toolkit.safe_names import file_name, safe_name, writing_below

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
# another device, too many links, a file of another user (protected_hardlinks), a file system without links
_NO_LINKS = {errno.EXDEV, errno.EMLINK, errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def link_file(source: Path, target: Path) -> None:
    """Link ``source`` to ``target``, creating folders. Never write to either file afterwards.

    Raises DataError if the source is missing or not a regular file, or if the target already exists.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _link(str(source), str(target))


def copy_file(source: Path, target: Path) -> None:
    """Copy a file, creating folders, for sources whose inode or times would reveal a label.

    Raises DataError if the source is missing or not a regular file, or if the target already exists.
    """
    if not source.is_file():
        raise DataError(f"{source} is {'not a regular file' if source.exists() else 'missing'}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        _copy(str(source), str(target))
    except FileExistsError:
        raise DataError(f"{target} already exists") from None


def link_files(source: Path, target: Path, names: Iterable[str] | Mapping[str, str]) -> int:
    """Link files of folder ``source`` into folder ``target``, creating folders; returns their number.

    ``names`` are paths relative to both folders, and repeated ones count once; a mapping also renames, from old to new
    name. Raises DataError if a file is missing or would be outside.
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
    """Link every file below folder ``source`` into ``target`` at its relative path; returns their number.

    Also creates empty folders.
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
        if stat.S_ISLNK(mode):  # raw data may be links: take their targets
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
    """Writes new files below a folder; creates each of their folders once."""

    def __init__(self, into: Path, source: Path) -> None:
        self._into = into
        self._source = source  # the archive, for messages
        self._folders: set[str] = set()

    def open(self, name: str) -> int:
        """A descriptor of a new file. Raises DataError if the name leads out of the folder or exists."""
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
        """Write one file from pieces. Raises DataError as ``open`` does."""
        out = self.open(name)
        try:
            for data in content:
                write_all(out, data)
        finally:
            os.close(out)
