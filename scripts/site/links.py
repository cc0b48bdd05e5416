"""Where a file of the repository is on the documentation site, and links that lead there."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from generate import ROOT, project

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:|#)([^)#\s]*)(#[^)\s]*)?\)")
_FENCE = re.compile(r"(^[ ]*```.*?^[ ]*```[ ]*$)", re.MULTILINE | re.DOTALL)


def place(source: Path) -> PurePosixPath | None:
    """The path on the site of a file or folder of the repository; None if it has none."""
    path = PurePosixPath(source.resolve().relative_to(ROOT).as_posix())
    if path.suffix == "" and source.is_dir() and (source / "README.md").is_file():
        path /= "README.md"
    match path.parts:
        case ["docs"]:
            return PurePosixPath("index.md")
        case ["docs", "competitions.md"]:  # beside the folder of the competitions' pages
            return PurePosixPath("competitions/index.md")
        case ["docs", *rest]:
            return PurePosixPath(*rest)
        case ["plugins", "competitions", name, "README.md"]:
            return PurePosixPath("competitions", f"{name}.md")
        case ["plugins", kind, name, "README.md"]:
            return PurePosixPath("packages", kind, f"{name}.md")
        case ["README.md"]:
            return PurePosixPath("index.md")
        case ["LICENSE"]:
            return PurePosixPath("project/LICENSE.txt")
        case [name] if name.endswith(".md"):
            return PurePosixPath("project", name.lower())
    return None


def rewritten(text: str, source: Path, generated: Collection[Path] = ()) -> str:
    """The text of a page, with links between places on the site.

    A link to a file without a place leads into the public repository, or becomes plain text if the project names none.
    Files that are ``generated`` need not exist.
    """
    here = place(source)
    assert here is not None
    return "".join(_rewritten(text, source, here, generated))


def _rewritten(page: str, source: Path, here: PurePosixPath, generated: Collection[Path]) -> Iterator[str]:
    repository = project(ROOT).get("urls", {}).get("Repository")

    def link(match: re.Match[str]) -> str:
        picture, text, path, anchor = match.groups(default="")
        target = Path(os.path.normpath(source.parent / path))
        if not target.exists() and target not in generated:
            raise SystemExit(f"{source.relative_to(ROOT)}: {path} does not exist")
        there = place(target)
        if there is not None:
            return f"{picture}[{text}]({os.path.relpath(there, here.parent)}{anchor})"
        if repository:
            return f"{picture}[{text}]({repository}/blob/main/{target.resolve().relative_to(ROOT).as_posix()}{anchor})"
        return text if "`" in text else f"`{text}`"

    for index, part in enumerate(_FENCE.split(page)):
        yield part if index % 2 else _LINK.sub(link, part)
