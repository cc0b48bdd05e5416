"""`mlecore leaderboard new`: the folder of a leaderboard, ready for git."""

from __future__ import annotations

from contextlib import nullcontext
from importlib.resources import files
from pathlib import Path

from mlecore.errors import UsageError
from mlecore.util.files import output

_FILES = {
    "leaderboard.toml": "leaderboard.toml",
    "README.md": "README.md",
    "allowed_signers": "allowed_signers",
    "gitignore": ".gitignore",
    "check.yml": ".github/workflows/check.yml",
    "site.yml": ".github/workflows/site.yml",
}
"""Name in the package -> name in the leaderboard."""


def create_board(folder: Path, title: str) -> None:
    """Raises UsageError if the folder has something in it."""
    import tomli_w

    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UsageError(f"{folder} already exists, and is not empty", fix="Name a new folder.")
    with nullcontext(folder) if folder.exists() else output(folder) as new:
        (new / "entries").mkdir(parents=True)
        (new / "entries" / ".gitkeep").touch()
        for source, name in _FILES.items():
            text = (files("mle_ext_leaderboard") / "scaffold" / source).read_text(encoding="utf-8")
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            quoted = tomli_w.dumps({"title": title}).strip()
            path.write_text(text.replace("@TITLE@", title).replace('title = ""', quoted), encoding="utf-8")
