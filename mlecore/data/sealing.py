"""Answers that are kept elsewhere: `private/` of prepared data becomes a link, and the manifest has the digest.

The link may lead to a folder that only another user can read, or that exists on another machine only. Agents run
wherever the public part is, and submissions are graded where the link leads to the answers.
"""

from __future__ import annotations

import shutil
from itertools import takewhile
from pathlib import Path

from mlecore.data import manifest
from mlecore.data.layout import DataDirs, prepared_name
from mlecore.data.lock import lock
from mlecore.data.prepared import Prepared
from mlecore.errors import DataError, UsageError
from mlecore.util import files


def seal(data: Prepared, into: Path, dirs: DataDirs) -> Path:
    """Move the answers to a folder below ``into`` that only this user can enter, and leave a link. Returns the folder.

    Its name has the digest of the answers, so that others are never replaced. The originals are removed once the copies
    have the hashes of the manifest. Can be repeated after a kill. Raises UsageError, DataError, OSError.
    """
    into = into.expanduser().absolute()
    target = into / f"{data.competition}-{data.private_digest[:12]}" / prepared_name(data.edition, data.synthetic)
    target /= "private"
    if data.sealed not in (None, target):
        raise UsageError(f"the answers of {data.competition} are sealed already, in {data.sealed}")
    if data.lists != data.root or not data.root.is_relative_to(dirs.first):
        raise UsageError(f"{data.root} is not changed: mlecore did not prepare it in {dirs.first}")
    if any(into.resolve().is_relative_to(each.resolve()) for each in dirs.dirs):
        raise UsageError(
            f"{into} is in a data directory, where answers are without --sealed", fix="Name another folder."
        )
    with lock(dirs.folder(data.competition), f"sealing {data.competition}"):
        files.recover(data.private)
        if data.sealed == target:
            return target
        if not target.is_dir():
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.remove(files.partial(target))
            shutil.copytree(data.private, files.partial(target))
            files.sync_tree(files.partial(target))
            files.rename(files.partial(target), target)
        manifest.close(target.parent)
        for entry in takewhile(lambda entry: entry.path.startswith("private/"), manifest.read_files(data.lists)):
            if manifest.sha256(f"{target.parent}/{entry.path}") != entry.sha256:
                raise DataError(f"{target.parent / entry.path} has other content than {data.root / entry.path}")
        files.partial(data.private).symlink_to(target)
        files.swap(files.partial(data.private), data.private)
    return target
