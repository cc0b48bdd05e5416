"""Data that MLE-bench prepared: used where they lie, never touched, verified once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from attrs import evolve

from mlecore.data import manifest
from mlecore.data.layout import DataDirs, Prepared, stamp
from mlecore.data.lock import lock
from mlecore.data.verifying import wrong_checksums
from mlecore.errors import DataError

if TYPE_CHECKING:
    from mlecore.backends import Progress
    from mlecore.facts import Facts


def adopt(
    found: Prepared,
    dirs: DataDirs,
    facts: Facts | None = None,
    progress: Progress | None = None,
    *,
    verify: bool = True,
) -> Prepared:
    """Hash all of it, compare with the published checksums, and keep a manifest in our own data directory.

    Raises DataError when it is not what the benchmark's data should be.
    """
    if facts is None:
        from mlecore.competitions import competition

        facts = competition(found.competition).facts
    with lock(dirs.folder(found.competition), f"verifying {found.root}", wait=lambda _: True):
        again = dirs.find(found.competition)
        if again is not None and again.manifest is not None:
            return again
        for name in (facts.answers, facts.sample):
            if not (found.root / name.partition("!")[0]).is_file():
                raise DataError(
                    f"{found.root} is not whole: {name} is missing",
                    fix=f"Let MLE-bench prepare it again, or mlecore: mlecore prepare {found.competition} --force",
                )
        if verify and (wrong := wrong_checksums(found.root, facts)):
            raise DataError(
                f"{found.root} is not what the benchmark's data should be:\n  " + "\n  ".join(wrong),
                fix=f"Prepare it anew: mlecore prepare {found.competition} --force; or take it as it is: "
                f"mlecore prepare {found.competition} --skip-verification",
            )
        before = stamp(found.root)
        entries = manifest.hash_files(found.root, manifest.scan(found.root), progress)
        place = dirs.adopted(found.root, found.competition)
        place.mkdir(parents=True, exist_ok=True)
        written = manifest.write(
            found.root,
            entries,
            into=place,
            competition=found.competition,
            edition=found.edition,
            plugin_version=None,
            source="mle-bench",
            verified=verify,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            stamp=before,
        )
        return evolve(found, manifest=written)
