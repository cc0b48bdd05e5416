"""Prepares a competition's data in a temporary folder that is renamed at the end, so they are complete or absent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.data import disk_space, manifest
from mlecore.data.file_order import replace_links
from mlecore.data.layout import DataDirs
from mlecore.data.lock import Unwritable, lock
from mlecore.data.opening import adopt
from mlecore.data.prepared import Preparation
from mlecore.data.raw import Raw, drop_raw, get_raw, sweep
from mlecore.data.shared_files import share_files
from mlecore.data.sources import Archive, Fetch, Kaggle, RawFolder, Source, Synthetic, has_synthetic, usual
from mlecore.data.verifying import wrong_checksums, wrong_counts
from mlecore.errors import DataError, PluginError, UsageError
from mlecore.util import files

if TYPE_CHECKING:
    from mlecore.model.backends import Progress
    from mlecore.model.competition import Competition
    from mlecore.model.facts import Facts


def prepare(
    competition: Competition,
    dirs: DataDirs,
    source: Source | None = None,
    *,
    force: bool = False,
    keep_raw: bool = False,
    verify: bool = True,
    progress: Progress | None = None,
    wait: Callable[[str], bool] | None = None,
) -> Preparation:
    """Prepare the data of a competition in its edition; existing prepared data stay unless ``force``.

    ``verify``: real data must have the published checksums and counts. ``wait``: see ``Lock.acquire``. After a kill at
    any moment the next call cleans up and resumes. Synthetic data are for use without a Kaggle account: if the real
    data need none and there are no synthetic data, the real ones are prepared under their own name.

    Raises DataError, PluginError, UsageError, LockHeld.
    """
    source = source or usual(competition)
    if isinstance(source, Synthetic) and not has_synthetic(competition):
        source = Fetch()
    synthetic = isinstance(source, Synthetic)
    target = dirs.target(competition.id, competition.edition, synthetic)
    try:
        with lock(dirs.folder(competition.id), f"preparing {competition.id}", wait):
            files.recover(target)
            sweep(dirs.folder(competition.id))
            found = None if force else dirs.find(competition.id, competition.edition, synthetic)
            if found is None or (found.manifest is not None and not _suits(found.manifest, source, competition)):
                return _prepare(competition, dirs, source, target, keep_raw, verify, progress)
    except Unwritable:  # the data belong to somebody else
        found = None if force else dirs.find(competition.id, competition.edition, synthetic)
        if found is None or found.manifest is None or not _suits(found.manifest, source, competition):
            raise
    if found.manifest is None:
        return Preparation(prepared=adopt(found, dirs, competition.facts, progress, verify=verify), done=True)
    return Preparation(prepared=found, done=False)


def _suits(there: manifest.Manifest, source: Source, competition: Competition) -> bool:
    """Do the existing data fit? Synthetic ones are created again for another version of the plugin. Raises UsageError
    for another seed or size: active runs may use the existing data and could not be graded afterwards."""
    if not isinstance(source, Synthetic):
        return True
    if there.plugin_version != competition.plugin.version:
        return False
    if source.seed in (None, there.seed) and source.size in (None, there.size):
        return True
    raise UsageError(
        f"synthetic data of {competition.id} with seed {there.seed} and size {there.size:g} already exist",
        fix="Runs may use them. To replace them: --force; to keep both: --data with another folder",
    )


def _prepare(
    competition: Competition,
    dirs: DataDirs,
    source: Source,
    target: Path,
    keep_raw: bool,
    verify: bool,
    progress: Progress | None,
) -> Preparation:
    folder, facts = dirs.folder(competition.id), competition.facts
    partial = files.partial(target)
    partial.parent.mkdir(parents=True, exist_ok=True)
    with disk_space.full_disk(folder, f"preparing {competition.id}"):
        raw = get_raw(competition, dirs, source, verify, progress)
        try:
            if progress is not None:
                progress(0, 0, "preparing")
            _build(competition, raw.path, partial)
            if not isinstance(source, Archive | Kaggle):  # those were unpacked here, in a random order
                replace_links(partial / "public")
            checked = verify and _checks(facts, source, raw)
            wrong = wrong_checksums(partial, facts) + wrong_counts(partial, facts) if checked else []
            if wrong and not isinstance(source, RawFolder):
                kept = target.with_name(target.name + ".wrong")
                files.remove(kept)
                files.rename(partial, kept)
                raise DataError(
                    f"{competition.id}: prepared data are not what they should be:\n  " + "\n  ".join(wrong),
                    fix=f"They are kept in {kept}. To use them anyway: --skip-verification",
                )
            others = _other_editions(facts, dirs, source)
            _finish(competition, source, raw, partial, checked and not wrong, progress, others)
            files.swap(partial, target)
        except BaseException:
            files.remove(partial)
            raise
    if not keep_raw:
        drop_raw(dirs, competition.id, source)
    found = dirs.find(competition.id, competition.edition, isinstance(source, Synthetic))
    assert found is not None
    notes = [*raw.notes, *(f"not as published: {line}" for line in wrong)]
    return Preparation(prepared=found, done=True, notes=tuple(notes))


def _build(competition: Competition, raw: Path, partial: Path) -> None:
    manifest.create_folders(partial)
    competition.prepare(raw, partial / "public", partial / "private")
    manifest.close(partial)
    facts = competition.facts
    for name in (facts.answers, facts.sample, facts.gold_submission):
        if name is not None and not (partial / name.partition("!")[0]).is_file():
            raise PluginError(f"competition {competition.id}: prepare did not write {name}, which its facts name")


def _checks(facts: Facts, source: Source, raw: Raw) -> bool:
    """Can such data be verified? Checksums are published for v1 only; for other editions, the download's decides."""
    if facts.edition != "v1":
        return raw.archive_md5 is not None and raw.archive_md5 == facts.md5.get("zip")
    if isinstance(source, RawFolder):  # counts say little about a folder that anybody may have edited
        return facts.answers in facts.md5
    published = any(path != "zip" for path in facts.md5) or facts.expect
    return bool(published) and not isinstance(source, Synthetic)


def _other_editions(facts: Facts, dirs: DataDirs, source: Source) -> list[Path]:
    """Folders with other editions of the same data, real or synthetic."""
    names = [name for name in ("v1", *facts.editions) if name != facts.edition]
    return [dirs.target(facts.id, name, isinstance(source, Synthetic)) for name in names]


def _finish(
    competition: Competition,
    source: Source,
    raw: Raw,
    partial: Path,
    verified: bool,
    progress: Progress | None,
    others: Sequence[Path],
) -> None:
    entries = manifest.entries(partial, progress, raw.known)
    for other in others:
        entries = share_files(partial, entries, other)
    files.sync_tree(partial)  # the manifest must not survive a power loss without its files
    manifest.write(
        partial,
        entries,
        competition=competition.id,
        edition=competition.edition,
        plugin_version=competition.plugin.version,
        source=source.name,
        verified=verified,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=raw.seed,
        size=raw.size,
        archive_md5=raw.archive_md5,
    )
