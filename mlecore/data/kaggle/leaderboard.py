"""Downloads the human leaderboard of a competition. Only the scores are kept, without names."""

from __future__ import annotations

import csv
import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.data.http import body, fetch_file
from mlecore.data.kaggle.client import call, competitions_client
from mlecore.data.layout import DataDirs
from mlecore.errors import DataError
from mlecore.util import files
from mlecore_toolkit.archives import require_zip

if TYPE_CHECKING:
    from mlecore.data.http import Body
    from mlecore.model.backends import Progress
    from mlecore.model.facts import Facts

_LARGEST = 256 << 20  # bytes, unpacked; the largest known leaderboard has about 9,000 teams


def fetch_leaderboard(facts: Facts, dirs: DataDirs, progress: Progress | None = None) -> Path:
    """Path of ``<id>/leaderboard.csv``, downloaded unless it exists: the column ``score``, best first as at Kaggle.

    Raises an MlecoreError if Kaggle does not offer it; medals depend on thresholds only.
    """
    there = dirs.leaderboard(facts.id)
    if there is not None:
        return there
    target = dirs.folder(facts.id) / "leaderboard.csv"
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".leaderboard-") as folder:
        archive = Path(folder) / "leaderboard.zip"
        fetch_file(lambda offset, validator: _open(facts), archive, progress)
        scores = _scores(archive)
    files.replace(target, ("score\n" + "".join(f"{score}\n" for score in scores)).encode())
    return target


def _open(facts: Facts) -> Body:
    from kagglesdk.competitions.types.competition_api_service import ApiDownloadLeaderboardRequest

    request = ApiDownloadLeaderboardRequest()
    request.competition_name = facts.kaggle
    with competitions_client() as client:
        what = f"asking for the leaderboard of {facts.id}"
        response = call(lambda: client.download_leaderboard(request), what)
        return body(response)


def _scores(archive: Path) -> list[str]:
    require_zip(archive)
    try:
        with zipfile.ZipFile(archive) as opened:
            member = next(info for info in opened.infolist() if info.filename.endswith(".csv"))
            if member.file_size > _LARGEST:
                raise DataError(f"the leaderboard claims to have {member.file_size} bytes")
            with opened.open(member) as file:
                rows = csv.DictReader(io.TextIOWrapper(file, "utf-8-sig", newline=""))
                return [score for row in rows if _number(score := (row.get("Score") or "").strip())]
    except (zipfile.BadZipFile, StopIteration, UnicodeDecodeError, csv.Error, EOFError, NotImplementedError) as error:
        raise DataError(f"the leaderboard that Kaggle sent cannot be read: {error!r}") from None


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
