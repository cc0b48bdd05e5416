"""An entry's export, from a stranger: hashed, and unpacked into a folder of its own within limits."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from mlecore.data import disk_space
from mlecore.errors import DataError, MlecoreError
from mlecore.runs.verifying import Exported
from mlecore.sharing.bundle import HEAD, OpenBundle, problems, read_bundle, unpack
from mlecore.units import show_size

MOST_FILES = 200_000
MOST_BYTES = 20 * 2**30  # of all files, unpacked
_HEAD_LIMIT = 64 * 2**20


class WrongExport(DataError):
    """An export that is damaged, or not the one that was meant; ``found`` has everything that is wrong."""

    def __init__(self, *found: str) -> None:
        super().__init__("; ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else ""))
        self.found = found


@frozen(kw_only=True)
class Opened:
    """An export whose files are as its list says, in a folder that is a group."""

    group: Path
    source: OpenBundle
    exported: Exported


def head_digest(path: Path) -> str:
    """SHA-256 of an export's bundle.json. Raises UsageError, DataError if it has none."""
    with OpenBundle(path) as source:
        return _head_digest(source)


def require_head(source: OpenBundle, sha256: str) -> None:
    """Raises WrongExport unless its bundle.json has this SHA-256."""
    if (found := _head_digest(source)) != sha256:
        raise WrongExport(f"the SHA-256 of its bundle.json is {found}, the entry says {sha256}")


def _head_digest(source: OpenBundle) -> str:
    return hashlib.sha256(b"".join(source.read(HEAD, _HEAD_LIMIT))).hexdigest()


@contextmanager
def open_export(path: Path, sha256: str | None = None) -> Iterator[Opened]:
    """Raises WrongExport if it is damaged, is too large, or has another ``sha256``, that of its bundle.json."""
    if path.is_symlink() or not path.exists():
        raise WrongExport(f"{path.name} is missing, or a link")
    try:
        with OpenBundle(path) as source, tempfile.TemporaryDirectory(prefix="mlecore-export-") as folder:
            if sha256 is not None:
                require_head(source, sha256)
            bundle = read_bundle(source)
            size = sum(entry.size for entry in bundle.files)
            if len(bundle.files) > MOST_FILES or size > MOST_BYTES or any(entry.size < 0 for entry in bundle.files):
                raise WrongExport(f"it has {len(bundle.files)} files, {show_size(size)}: more than are opened")
            disk_space.require(Path(folder), size, "an export")
            if wrong := problems(source, bundle):
                raise WrongExport(*wrong)
            group = Path(folder, "export")
            unpack(source, bundle, group)
            exported = Exported(not_started=bundle.not_started)
            yield Opened(group=group, source=source, exported=exported)
    except WrongExport:
        raise
    except MlecoreError as error:
        raise WrongExport(error.message) from None
