"""Checks that prepared data have not changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING

from mlecore.data import manifest
from mlecore.data.compare import compare, set_times
from mlecore.data.layout import DataDirs
from mlecore.data.lock import lock
from mlecore.data.opening import open_prepared
from mlecore.data.prepared import Prepared
from mlecore.data.verifying import wrong_checksums, wrong_counts
from mlecore.errors import DataError
from mlecore.util.units import counted, show_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlecore.model.backends import Progress
    from mlecore.model.competition import Competition
    from mlecore.model.facts import Facts

_NAMED = 3  # changed files that an error names


def recheck(
    competition: Competition, dirs: DataDirs, synthetic: bool = False, progress: Progress | None = None
) -> list[str]:
    """Differences from the manifest, and from the published checksums and counts if the data once matched those.

    Reads every byte. Raises NotPrepared if there is nothing to check, and DataError if only the public part can
    be read here, and is unchanged.
    """
    found = open_prepared(competition, dirs, synthetic=synthetic, progress=progress)
    head = found.manifest
    assert head is not None
    compared = compare(found.root, found.lists, progress, parts=found.parts)
    problems = compared.problems
    if not problems:
        _remember(found, dirs, compared.times)
        found.require_answers()
    if head.verified and head.source != "synthetic":
        problems += wrong_checksums(found.root, competition.facts) + wrong_counts(found.root, competition.facts)
    return problems


def require_unchanged(
    found: Prepared, dirs: DataDirs, *, everything: bool = False, say: Callable[[str], None] = lambda text: None
) -> None:
    """Compare sizes and times of all prepared files with the manifest, and the content of files whose time differs.

    Takes seconds for a million files. ``everything``: compare the content of all files. Raises DataError with the names
    of the first files that have changed.
    """

    def reading(files: int, size: int) -> None:
        which = "all of its files" if everything else f"{counted(files, 'file')} with another time than when prepared"
        say(f"{found.competition}: comparing the content of {which} with the manifest ({show_size(size)})")

    compared = compare(found.root, found.lists, parts=found.parts, everything=everything, reading=reading)
    if compared.problems:
        raise _changed(found, compared.problems)
    _remember(found, dirs, compared.times)


def require_sample(facts: Facts, data: Prepared) -> None:
    """Compare the content of the sample submission with the manifest. Raises DataError if it has changed."""
    if data.manifest is not None:
        sample = facts.sample.partition("!")[0]
        _require(data, manifest.find_files(data.lists, [sample]), hashed={sample})


def require_grading_data(facts: Facts, data: Prepared) -> None:
    """Compare the files that grading reads with the manifest: the content of the answers and the sample, and the size
    and time of the other files in ``private/``.

    Takes about a millisecond plus the time to hash answers and sample. Raises DataError with the names of changed
    files, or if the answers are sealed elsewhere. Does nothing for data without a manifest.
    """
    data.require_answers()
    if data.manifest is None:
        return
    sample = facts.sample.partition("!")[0]
    answers = takewhile(lambda entry: entry.path.startswith("private/"), manifest.read_files(data.lists))
    _require(data, [*answers, *manifest.find_files(data.lists, [sample])], hashed={facts.answers, sample})


def _require(data: Prepared, entries: Sequence[manifest.Entry], hashed: Set[str]) -> None:
    problems = []
    for entry in entries:
        try:
            status = (data.root / entry.path).stat()
        except PermissionError:
            raise DataError(
                f"{data.competition}: this user may not read {data.root / entry.path}",
                fix="Its owner can share answers with a group: docs/offline.md",
            ) from None
        except OSError as error:
            problems.append(f"{entry.path}: {error.strerror}")
            continue
        if status.st_size != entry.size:
            problems.append(f"{entry.path}: has {status.st_size} bytes, expected {entry.size}")
        elif entry.path not in hashed and status.st_mtime_ns == entry.mtime_ns:
            continue
        elif manifest.sha256(f"{data.root}/{entry.path}") != entry.sha256:
            problems.append(f"{entry.path}: has other content")
    if problems:
        raise _changed(data, problems)


def _changed(data: Prepared, problems: Iterable[str]) -> DataError:
    problems = list(problems)
    shown = "; ".join(problems[:_NAMED]) + (f"; and {len(problems) - _NAMED} more" * (len(problems) > _NAMED))
    folder = data.root.parents[1 + data.synthetic] if data.lists == data.root else data.lists.parents[1]
    where = DataDirs((folder,)).flags(data.edition, data.synthetic)
    return DataError(
        f"{data.competition}: the data in {data.root} were changed after they were prepared: {shown}",
        fix=f"To see all changes: mlecore data verify {data.competition}{where}\n"
        f"To prepare the data again: mlecore prepare {data.competition}{where} --force",
    )


def _remember(found: Prepared, dirs: DataDirs, times: Mapping[str, int]) -> None:
    """Note the new times of unchanged files, so that they are not read again: beside the data, or in the first data
    directory if that folder cannot be written to."""
    if not times:
        return
    with suppress(DataError, OSError), lock(dirs.folder(found.competition), "noting the times of prepared files"):
        there = dirs.find(found.competition, found.edition, found.synthetic)
        if there is None or there.manifest is None or (there.root, there.manifest) != (found.root, found.manifest):
            return  # prepared again meanwhile
        try:
            set_times(there.lists, times, into=there.lists)
        except OSError:
            kept = dirs.adopted(there.root, there.competition)
            kept.mkdir(parents=True, exist_ok=True)
            set_times(there.lists, times, into=kept)
            manifest.write_head(kept, there.manifest)
