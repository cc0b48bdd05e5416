"""Public data stay where they are: the container mounts their folder. They must be readable for its user."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from mlecore.backends import Dataset, Progress
from mlecore.errors import BackendError

LOOKED_AT = 2000  # entries; data are prepared by one program, so that a few stand for all


def stage_data(dataset: Dataset, progress: Progress) -> str:
    """The folder that the engine mounts. Raises BackendError if the agent could not read it."""
    public = dataset.public.resolve()
    if not public.is_dir():
        raise BackendError(f"the public data of {dataset.competition} are not at {public}")
    for path in islice(_entries(public), LOOKED_AT):
        mode = path.lstat().st_mode
        needed = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
        if not stat.S_ISLNK(mode) and mode & needed != needed:
            raise BackendError(
                f"{path} cannot be read by others, and the agent runs as another user than you",
                fix=f"chmod -R a+rX {public}",
            )
    progress(1, 1, f"{dataset.competition}: mounted from {public}")
    return str(public)


def _entries(folder: Path) -> Iterator[Path]:
    yield folder
    for where, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield Path(where) / name
