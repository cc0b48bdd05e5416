"""Downloads a competition's archive into its folder. The caller holds the competition's lock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from mlecore.data import disk_space
from mlecore.data.http import Body, body, downloaded, fetch_file, forget, range_headers
from mlecore.data.kaggle.client import call, competitions_client, login
from mlecore.data.kaggle.leaderboard import fetch_leaderboard
from mlecore.data.layout import DataDirs
from mlecore.errors import DataError, MlecoreError, UsageError
from mlecore.util.file_kinds import describe
from mlecore_toolkit.archives import archive_kind

if TYPE_CHECKING:
    from mlecore.model.backends import Progress
    from mlecore.model.facts import Facts


@frozen
class Download:
    """The archive of a competition, and notes for the user."""

    archive: Path
    notes: tuple[str, ...] = ()


def download(facts: Facts, dirs: DataDirs, *, verify: bool = True, progress: Progress | None = None) -> Download:
    """Find the archive in any data directory, or download it, resuming an earlier call.

    Also downloads the leaderboard if Kaggle offers it. Raises NoLogin, RulesNotAccepted, CannotJoin, and
    DataError for a wrong MD5 (the file is kept under another name), a full disk and a connection that stays bad.
    """
    if facts.kaggle is None:
        raise UsageError(f"{facts.id} is not on Kaggle")
    there = dirs.archive(facts.id)
    if there is not None:
        return Download(there)
    login(progress)
    folder = dirs.folder(facts.id)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{facts.id}.zip"
    with disk_space.full_disk(folder, f"downloading {facts.id}"):
        found = fetch_file(lambda offset, validator: _open(facts, offset, validator), target, progress, _room)
    expected = facts.md5.get("zip")
    kept = target.with_name(target.name + ".wrong")
    if archive_kind(target) != "zip":
        what, fix = describe(target)
        _set_aside(target, kept)
        raise DataError(f"Kaggle sent no zip for {facts.id}, but a file that is {what}; it is kept as {kept}", fix=fix)
    if verify and expected is not None and found != expected:
        _set_aside(target, kept)
        raise DataError(
            f"what Kaggle sent for {facts.id} is not the published download: MD5 {found}, expected {expected}",
            fix=f"It is kept as {kept}. Try again, or, if Kaggle has changed it for good, use it anyway: "
            f"mlecore prepare {facts.id} --archive {kept} --skip-verification",
        )
    try:
        fetch_leaderboard(facts, dirs, progress)
    except MlecoreError as error:
        return Download(target, (f"no leaderboard, so no rank and percentile (medals need none): {error.message}",))
    return Download(target)


def _set_aside(target: Path, kept: Path) -> None:
    target.replace(kept)
    forget(target)


def drop_download(folder: Path, competition: str) -> None:
    """Remove the archive if mlecore downloaded it; one that the user put there stays."""
    archive = folder / f"{competition}.zip"
    if downloaded(archive):
        forget(archive)


def _room(size: int) -> int:
    """Room for the archive and its unpacked content, which is at least as large."""
    return 2 * size


def _open(facts: Facts, offset: int, validator: str | None) -> Body:
    """Ask Kaggle, which redirects to its storage. That address expires, so each attempt asks again."""
    from kagglesdk.competitions.types.competition_api_service import ApiDownloadDataFilesRequest

    request = ApiDownloadDataFilesRequest()
    request.competition_name = facts.kaggle
    with competitions_client(range_headers(offset, validator)) as client:
        return body(call(lambda: client.download_data_files(request), f"asking for {facts.id}", facts))
