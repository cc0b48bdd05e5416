"""The static site: written whole next to its place, then put there."""

from __future__ import annotations

from pathlib import Path

from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.feed import atom
from mle_ext_leaderboard.tables import Standing, standings, tables
from mlecore.errors import UsageError
from mlecore.util import files
from mlecore.util.units import counted

MARK = "leaderboard.json"


def build_site(board: Board, to: Path) -> str:
    """What was built, in words. Raises UsageError if the folder has something else in it than an earlier build."""
    from mle_ext_leaderboard import downloads
    from mle_ext_leaderboard.pages import Pages

    if to.is_symlink() or (to.exists() and (not to.is_dir() or (any(to.iterdir()) and not (to / MARK).is_file()))):
        raise UsageError(f"{to} exists, and is not a site that was built before", fix="Name a new folder: --to")
    found = standings(board)
    shown = tables(board, found)
    pages = Pages(board, found, shown)
    partial = files.partial(to.absolute())
    files.remove(partial)
    (partial / "entries").mkdir(parents=True)
    _write(partial / "index.html", pages.index())
    for standing in found:
        if is_named(standing):
            _write(partial / "entries" / f"{standing.name}.html", pages.entry(standing))
            (partial / "entries" / f"{standing.name}.json").write_bytes(downloads.entry_json(standing))
    (partial / MARK).write_bytes(downloads.board_json(board, found, shown))
    _write(partial / "entries.csv", downloads.entries_csv(shown))
    _write(partial / "runs.csv", downloads.runs_csv(found))
    if board.rules.published:
        _write(partial / "published.csv", downloads.published_csv())
    (partial / "feed.xml").write_bytes(atom(board, found))
    files.swap(partial, to.absolute())
    ranked = sum(standing.ranked for standing in found)
    return f"{counted(len(found), 'folder')} in entries, {ranked} ranked, in {counted(len(shown), 'table')}"


def is_named(standing: Standing) -> bool:
    """Has it a name that can be a file's? Folders may be called anything."""
    from mle_ext_leaderboard.board import require_name

    try:
        return bool(require_name(standing.name))
    except UsageError:
        return False


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
