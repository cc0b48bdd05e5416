"""Checks that prepared data are still intact: reads every byte again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlecore.data import manifest
from mlecore.data.layout import DataDirs
from mlecore.data.opening import open_prepared
from mlecore.data.verifying import wrong_checksums, wrong_counts

if TYPE_CHECKING:
    from mlecore.backends import Progress
    from mlecore.competitions import Competition


def recheck(
    competition: Competition, dirs: DataDirs, synthetic: bool = False, progress: Progress | None = None
) -> list[str]:
    """What differs from the manifest, and from the published checksums and counts where the data once matched them.

    Raises NotPrepared if there is nothing to check.
    """
    found = open_prepared(competition, dirs, synthetic=synthetic, progress=progress)
    head = found.manifest
    assert head is not None
    kept = dirs.adopted(found.root, competition.id) if head.source == "mle-bench" else found.root
    problems = manifest.differences(found.root, manifest.read_files(kept), progress)
    if head.verified and head.source != "synthetic" and competition.edition == "v1":
        problems += wrong_checksums(found.root, competition.facts) + wrong_counts(found.root, competition.facts)
    return problems
