"""What a pull request changes, by git: its new entries, and changes of what must stay."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from mle_ext_leaderboard.board import ENTRIES
from mle_ext_leaderboard.rules import Remark
from mlecore.child_environment import child_environment
from mlecore.errors import UsageError


@frozen(kw_only=True)
class Changes:
    """``entries``: names of those that are new or changed."""

    entries: tuple[str, ...]
    remarks: tuple[Remark, ...]


def changes(folder: Path, base: str) -> Changes:
    """Between ``base``, a branch or commit, and the working tree. Raises UsageError if git cannot tell."""
    if base.startswith("-"):
        raise UsageError(f"{base!r} is not a branch or commit")
    merge_base = _git(folder, "merge-base", base, "HEAD").strip()
    names = _git(folder, "ls-tree", "-z", "-d", "--name-only", f"{merge_base}:./{ENTRIES}", may_fail=True).split("\0")
    before = {*filter(None, names)}
    words = ("diff", "--no-renames", "--name-status", "-z", "--relative", merge_base, "--", ".")
    parts = _git(folder, *words).split("\0")
    untracked = _git(folder, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    changed = [*zip(parts[::2], parts[1::2], strict=False), *(("A", path) for path in untracked if path)]
    touched = {path.split("/")[1] for _, path in changed if path.startswith(f"{ENTRIES}/") and path.count("/") > 1}
    return Changes(entries=tuple(sorted(touched)), remarks=tuple(_remarks(changed, before)))


def _remarks(changed: list[tuple[str, str]], before: set[str]) -> Iterator[Remark]:
    for how, path in changed:
        parts = path.split("/")
        if parts[0] != ENTRIES or len(parts) < 3:
            yield Remark(level="warning", check="changes", words=f"it also changes {path}: review that by hand")
        elif parts[1] in before and how != "D" and parts[2].startswith("export"):
            words = f"it changes {path}, as a countersignature does: the check shows whether the runs are the same"
            yield Remark(level="note", check="changes", words=words)
        elif parts[1] in before:
            word = "removes" if how == "D" else "changes"
            words = f"it {word} {path}: entries stay as they are; add a correction or retraction"
            yield Remark(level="error", check="changes", words=words)


def _git(folder: Path, *words: str, may_fail: bool = False) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, env=child_environment(), check=False
        )
    except OSError as error:
        raise UsageError(f"git cannot be started: {error.strerror}") from None
    if done.returncode and not may_fail:
        raise UsageError(f"git {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode("utf-8", "surrogateescape") if not done.returncode else ""
