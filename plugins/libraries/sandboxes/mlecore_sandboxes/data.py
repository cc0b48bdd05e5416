"""The public data of a competition on the controller's disk, before a backend makes them available to jobs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mlecore.errors import BackendError, DataError
from mlecore.model.backends import Dataset

if TYPE_CHECKING:
    from mlecore.data.manifest import Entry

_CHECKED = 2000  # files and folders; one program prepares all data, so that a few stand for all


def public_folder(dataset: Dataset, *, others: bool = False) -> Path:
    """Where the data are. Raises BackendError if they are gone, or ``others`` must read them and may not."""
    public = dataset.public.resolve()
    if not public.is_dir():
        raise BackendError(f"the public data of {dataset.competition} are not at {public}")
    for path in islice(_below(public), _CHECKED if others else 0):
        mode = path.lstat().st_mode
        needed = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
        if not stat.S_ISLNK(mode) and mode & needed != needed:
            raise BackendError(
                f"{path} cannot be read by others, and the agent runs as another user than you",
                fix=f"chmod -R a+rX {public}",
            )
    return public


def _below(folder: Path) -> Iterator[Path]:
    yield folder
    for where, folders, files in os.walk(folder):
        yield from (Path(where) / name for name in (*folders, *files))


def listed(public: Path) -> dict[str, Entry] | None:
    """The public files by their paths, as the manifest beside them lists them; None where there is no manifest."""
    from mlecore.data import manifest  # here: hosts and nodes have no part of mlecore that prepares data

    root, prefix = public.parent, "public/"
    if public.name != "public" or manifest.read_head(root) is None:
        return None
    found = (entry for entry in manifest.read_files(root) if entry.path.startswith(prefix))
    return {entry.path.removeprefix(prefix): entry for entry in found}


def chunks(source: IO[bytes], size: int, most: int = 1 << 20) -> Iterator[bytes]:
    """The next ``size`` bytes of a file, at most ``most`` at once. Raises DataError if it has become shorter."""
    while size:
        chunk = source.read(min(most, size))
        if not chunk:
            raise DataError(f"{source.name} became shorter while it was read", fix="Try again.")
        size -= len(chunk)
        yield chunk
