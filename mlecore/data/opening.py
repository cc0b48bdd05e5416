"""Open prepared data. Data that MLE-bench prepared are used in place, never changed, and verified once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from attrs import evolve

from mlecore.data import manifest
from mlecore.data.layout import DataDirs
from mlecore.data.lock import lock
from mlecore.data.prepared import Prepared, stamp
from mlecore.data.sources import has_synthetic
from mlecore.data.verifying import wrong_checksums
from mlecore.errors import DataError, NotPrepared

if TYPE_CHECKING:
    from mlecore.model.backends import Progress
    from mlecore.model.competition import Competition
    from mlecore.model.facts import Facts


def open_prepared(
    competition: Competition,
    dirs: DataDirs,
    *,
    synthetic: bool = False,
    progress: Progress | None = None,
    verified: bool = True,
) -> Prepared:
    """The data of a competition in its edition. Raises NotPrepared with the command to run.

    ``synthetic``: the synthetic data, or the real ones if there are no synthetic data because the real ones need no
    account. Data that MLE-bench prepared are read and hashed on the first call: a minute or more per 100 GB.
    ``verified=False`` skips that, for callers that need no digest.
    """
    found = dirs.find(competition.id, competition.edition, synthetic)
    if found is None and synthetic and not has_synthetic(competition):  # asked last, as it imports the plugin
        synthetic = False
        found = dirs.find(competition.id, competition.edition)
    if found is None:
        flags = dirs.flags(competition.edition, synthetic)
        made_up = not synthetic and dirs.find(competition.id, competition.edition, True) is not None
        raise NotPrepared(
            f"the {'synthetic data' if synthetic else 'data'} of {competition.id} are not prepared "
            f"in {', '.join(map(str, dirs.dirs))}",
            fix=f"Prepare them: mlecore prepare {competition.id}{flags}"
            + (" (or use the synthetic data, which are prepared: --synthetic)" if made_up else ""),
        )
    if found.manifest is None and verified:
        return adopt(found, dirs, competition.facts, progress)
    return found


def adopt(
    found: Prepared, dirs: DataDirs, facts: Facts, progress: Progress | None = None, *, verify: bool = True
) -> Prepared:
    """Hash all files, compare them with the published checksums, and keep a manifest in the first data directory.

    If the checksum of the answers was never published, the data are unverified. Raises DataError if they are not the
    benchmark's.
    """
    with lock(dirs.folder(found.competition), f"verifying {found.root}", wait=lambda _: True):
        again = dirs.find(found.competition)
        if again is not None and again.manifest is not None:
            return again
        for name in (facts.answers, facts.sample):
            if not (found.root / name.partition("!")[0]).is_file():
                raise DataError(
                    f"{found.root} is not complete: {name} is missing",
                    fix=f"Prepare it again with MLE-bench or with mlecore: mlecore prepare {found.competition} --force",
                )
        if verify and (wrong := wrong_checksums(found.root, facts)):
            raise DataError(
                f"{found.root} is not the benchmark's data:\n  " + "\n  ".join(wrong),
                fix=f"Prepare it again: mlecore prepare {found.competition} --force; or use it as it is: "
                f"mlecore prepare {found.competition} --skip-verification",
            )
        before = stamp(found.root)
        entries = manifest.entries(found.root, progress)
        folder = dirs.adopted(found.root, found.competition)
        folder.mkdir(parents=True, exist_ok=True)
        written = manifest.write(
            found.root,
            entries,
            into=folder,
            competition=found.competition,
            edition=found.edition,
            plugin_version=None,
            source="mle-bench",
            verified=verify and facts.answers in facts.md5,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            stamp=before,
        )
        return evolve(found, manifest=written)
