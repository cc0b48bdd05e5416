"""A competition's human leaderboard, from Kaggle or from a table that somebody has."""

from __future__ import annotations

from pathlib import Path

from mlecore.data.kaggle.leaderboard import fetch_leaderboard
from mlecore.data.layout import DataDirs
from mlecore.errors import PluginError, UsageError
from mlecore.grading.rank import read_leaderboard
from mlecore.model.backends import Progress
from mlecore.model.facts import Facts
from mlecore.util import files


def provide(facts: Facts, dirs: DataDirs, source: Path | None, progress: Progress) -> tuple[Path, int]:
    """Its place in the first data directory, and the number of teams. Raises MlecoreError."""
    if source is None:
        if facts.kaggle is None:
            raise UsageError(f"{facts.id} is not on Kaggle and has no leaderboard")
        files.make_folder(dirs.folder(facts.id))
        path = fetch_leaderboard(facts, dirs, progress)
        return path, len(read_leaderboard(path))
    path = dirs.folder(facts.id) / "leaderboard.csv"
    scores = _read(source / facts.id / path.name if source.is_dir() else source)
    with files.output(path) as new:
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text("score\n" + "".join(f"{score!r}\n" for score in scores), encoding="utf-8")
    return path, len(scores)


def _read(table: Path) -> list[float]:
    try:
        if scores := read_leaderboard(table):
            return scores
        raise UsageError(f"{table} has no scores")
    except (PluginError, OSError, ValueError) as error:
        raise UsageError(
            f"it cannot be read as a leaderboard: {error}", fix="Name a CSV file with a column `score`."
        ) from None
