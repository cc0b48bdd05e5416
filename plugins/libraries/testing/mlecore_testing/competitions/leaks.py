"""Rules: public files do not give the answers away, nor does the order of test rows and files. By checks of the audit.

Known leaks of the published data are in [[leaks]] of competition.toml, and are not reported. Damaged files are passed
over. Files that are linked from raw data count as ``mlecore prepare`` leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken, Undecided

if TYPE_CHECKING:
    from mlecore_audit.finding import Finding
    from mlecore_audit.subject import Subject

_ITEMS = 300  # whose metadata are read: a synthetic leak is in all of them


def leaks(harness: Harness) -> Iterator[Broken]:
    from mlecore_audit.answers import examine

    return _serious(harness, partial(examine, items=_ITEMS))


def order(harness: Harness) -> Iterator[Broken]:
    from mlecore_audit.tells import orders

    return _serious(harness, orders)


def _serious(harness: Harness, check: Callable[[Subject], Iterator[Finding]]) -> Iterator[Broken]:
    try:
        found = list(check(harness.subject))
    except DataError as error:
        raise Undecided(str(error)) from None
    for finding in found:
        if finding.level in ("answer", "leak") and not _is_known(harness, finding.file):
            yield Broken(finding.evidence, finding.file)


def _is_known(harness: Harness, where: str) -> bool:
    """Do the facts name a leak of this public file, of the folder or archive that it is in, or of its unpacked copy?"""
    archive, _, member = where.partition("!")
    unpacked = (PurePosixPath(archive).parent / member).as_posix() if member else where
    files = {leak.file for leak in harness.facts.leaks}
    return any(where == file or unpacked == file or where.startswith((f"{file}/", f"{file}!")) for file in files)
