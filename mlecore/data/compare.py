"""Compares prepared files with their manifest.

A file whose size and time match the manifest counts as unchanged. If only the time differs, the content is compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from mlecore.data.manifest import FILES, PARTS, hash_files, line_end, read_files, walk, write_files
from mlecore.errors import DataError

if TYPE_CHECKING:
    from mlecore.model.backends import Progress

Found = dict[str, tuple[int, int]]  # path -> size in bytes, time in nanoseconds


@frozen
class Comparison:
    """How files differ from the manifest."""

    problems: list[str]  # files that are missing, extra, or changed
    times: dict[str, int]  # files that differ in time only -> their time now, in nanoseconds


def compare(
    root: Path,
    lists: Path,
    progress: Progress | None = None,
    *,
    parts: Sequence[str] = PARTS,
    everything: bool = True,
    reading: Callable[[int, int], None] = lambda files, size: None,
) -> Comparison:
    """Compare the files in ``root`` with the manifest in ``lists``. Raises DataError for what cannot be read.

    ``parts``: the folders to compare. ``everything``: read all files, not only those whose time differs. ``reading`` is
    called with the number of files to read and their total size in bytes.
    """
    if everything:
        there: Found = {path: (status.st_size, status.st_mtime_ns) for path, status in walk(root, parts)}
        wanted = {entry.path: entry for entry in read_files(lists) if entry.path.startswith((*parts,))}
    else:
        there, missing = _suspects(root, lists, parts)
        suspects = there.keys() | missing
        wanted = {entry.path: entry for entry in read_files(lists) if entry.path in suspects} if suspects else {}
    problems = [f"{path}: is missing" for path in wanted if path not in there]
    problems += [f"{path}: does not belong there" for path in there if path not in wanted]
    unread = {}
    for path, (size, _) in there.items():
        if path in wanted and size == wanted[path].size:
            unread[path] = size
        elif path in wanted:
            problems.append(f"{path}: has {size} bytes, expected {wanted[path].size}")
    if unread:
        reading(len(unread), sum(unread.values()))
    times = {}
    for entry in hash_files(root, unread, progress):
        expected, time = wanted[entry.path], there[entry.path][1]
        if entry.sha256 != expected.sha256:
            problems.append(f"{entry.path}: has other content: SHA-256 {entry.sha256}, expected {expected.sha256}")
        elif time != expected.mtime_ns:
            times[entry.path] = time
    return Comparison(sorted(problems), times)


def _suspects(root: Path, lists: Path, parts: Sequence[str]) -> tuple[Found, set[str]]:
    """Files whose size and time the manifest does not have, and paths of the manifest without such a file.

    Compares the manifest's lines as text, which takes seconds for a million files.
    """
    path = lists / FILES
    try:
        with path.open(encoding="ascii") as lines:
            expected = {line.partition(" ")[2] for line in lines}
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}", fix="Prepare again with --force") from None
    found: Found = {}
    for name, status in walk(root, parts):
        line = line_end(status.st_size, status.st_mtime_ns, name)
        if line in expected:
            expected.remove(line)
        else:
            found[name] = (status.st_size, status.st_mtime_ns)
    try:
        missing = {json.loads(line.split(" ", 2)[2]) for line in expected}
        return found, {path for path in missing if path.startswith((*parts,))}
    except (ValueError, IndexError) as error:
        raise DataError(f"{path} is damaged: {error}", fix="Prepare again with --force") from None


def set_times(lists: Path, times: Mapping[str, int], into: Path) -> None:
    """Copy the list of files from ``lists`` to ``into``, with new times for some files. Raises OSError."""
    entries = read_files(lists)
    write_files(into, (evolve(each, mtime_ns=times.get(each.path, each.mtime_ns)) for each in entries))
