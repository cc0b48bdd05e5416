"""No run gets the answers, whatever its agent asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from mlecore.agents import Launch
from mlecore.errors import UsageError

# Where some images made for MLE-bench expect what its grading server reads.
_MOUNT = re.compile(r"(?:^|[\s=:'\"])(/private)(?:[/\s:'\"]|$)")


def refuse_answers(agent: str, launch: Launch, private: Path) -> None:
    """Raises UsageError if a launch brings files from a folder of answers, or names such a folder to be read.

    ``private`` is the folder of this competition's answers.
    """
    for what in _asked_for(launch, private):
        raise UsageError(
            f"agent {agent} asks for the answers ({what}), and no run gets them: they stay with the controller, which"
            " grades after the run",
            fix="Have it check its submission with validate_submission.sh, and score its ideas on training data.",
        )


def _asked_for(launch: Launch, private: Path) -> Iterator[str]:
    own = private.resolve()
    folders: dict[Path, bool] = {}
    for name, content in launch.files.items():
        if isinstance(content, Path):
            path = content.resolve() if content.is_symlink() else content
            if path.parent not in folders:
                folder = path.parent.resolve()
                folders[path.parent] = folder.is_relative_to(own) or _holds_answers(folder)
            if folders[path.parent]:
                yield f"{name} comes from {path}"
    for text in (*launch.argv, *launch.env.values()):
        for named in (str(private), str(own)):
            if named in text:
                yield named
        if found := _MOUNT.search(text):
            yield found[1]


def _holds_answers(folder: Path) -> bool:
    """By the layout of prepared data: DATA/ID/prepared/private and what lies below, of any edition."""
    return any(below == "private" and above.partition("@")[0] == "prepared" for above, below in pairwise(folder.parts))
