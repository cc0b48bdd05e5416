"""What git tells: which entries were first, and what a pull request changes of those that must stay."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import IO

from attrs import frozen
from mle_ext_sharing.bundle import SIGNATURE, OpenBundle
from mle_ext_sharing.statement import Statement

from mle_ext_leaderboard.board import ENTRIES
from mle_ext_leaderboard.entry import FILE
from mle_ext_leaderboard.rules import Remark, rejection
from mlecore.errors import DataError, MlecoreError, UsageError
from mlecore.util.child_environment import child_environment
from mlecore.util.schema import LIMIT

_MOST = 100  # signatures that are added to an entry


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
    remarks = [_remark(folder, merge_base, how, path, before) for how, path in changed]
    return Changes(entries=tuple(sorted(touched)), remarks=tuple(filter(None, remarks)))


def added(folder: Path, ref: str) -> dict[str, int]:
    """Entry -> number of the commit on the main line of ``ref`` that added it, larger for newer ones.

    Only what the history has: none outside of git, and all with the same number in a clone of depth 1.
    """
    words = ("log", "--first-parent", "-m", "--reverse", "--no-renames", "--diff-filter=AD", "--name-status")
    found: dict[str, int] = {}
    number = 0
    log = _git(folder, *words, "--relative", "--format=tformat:commit", ref, "--", f"{ENTRIES}/", may_fail=True)
    for line in log.splitlines():
        number += line == "commit"
        if change := re.fullmatch(rf"([AD])\t{ENTRIES}/([^/]+)/{re.escape(FILE)}", line):
            found.pop(change[2], None)
            if change[1] == "A":
                found[change[2]] = number
    return found


def _remark(folder: Path, base: str, how: str, path: str, before: set[str]) -> Remark | None:
    parts = path.split("/")
    shown = ascii(path)[1:-1]
    if parts[0] != ENTRIES or (len(parts) == 2 and how == "D"):
        return Remark(level="warning", check="changes", words=f"it also changes {shown}: review that by hand")
    if len(parts) == 2:
        return rejection("changes", f"it adds {shown}: an entry is a folder with {FILE}")
    if parts[1] not in before:
        return None
    try:
        if _only_adds_signatures(folder, base, how, path):
            return Remark(level="note", check="changes", words=f"it adds a signature to {shown}")
        why = ""
    except MlecoreError as error:
        why = f" ({error.message})"
    word = {"A": "adds", "D": "removes"}.get(how, "changes")
    words = f"it {word} {shown}{why}: entries stay as they are; add a correction or retraction"
    return rejection("changes", words)


def _only_adds_signatures(folder: Path, base: str, how: str, path: str) -> bool:
    """Does a changed file of an entry only add signatures of second parties? Raises MlecoreError that says why not.

    The export's other files are compared with its list, whose hash entry.toml has, when the entry is checked.
    """
    _, _, name, *rest = path.split("/")
    export, member = folder / Path(*path.split("/")[:3]), "/".join(rest)
    added = how == "A" and member
    if not (added or (how == "M" and not member and name.endswith(".zip"))) or export.is_symlink():
        return False
    with tempfile.TemporaryDirectory() as scratch, OpenBundle(export) as new:
        if added:
            return _is_countersignature(new, member)
        before = Path(scratch, name)
        with before.open("wb") as file:
            _git(folder, "cat-file", "blob", f"{base}:./{path}", into=file)
        with OpenBundle(before) as old:
            then, now = {*old.names()}, {*new.names()}
            for each in then:
                if each not in now or (SIGNATURE.fullmatch(each) and _content(old, each) != _content(new, each)):
                    raise DataError(f"{each} is not as it was")
            if len(now - then) > _MOST:
                raise DataError(f"{len(now - then)} new files")
            return now > then and all(_is_countersignature(new, each) for each in now - then)


def _is_countersignature(new: OpenBundle, name: str) -> bool:
    """Is a file of a bundle the statement of a second party, or its signature? Raises DataError that says why not."""
    if not SIGNATURE.fullmatch(name):
        return False
    if Statement.loads(_content(new, name.removesuffix(".sig"))).predicate.role == "ran":
        raise DataError(f"{name}: only a second party signs an entry that exists")
    return True


def _content(bundle: OpenBundle, name: str) -> bytes:
    return bundle.whole(name, LIMIT)


def _git(folder: Path, *words: str, may_fail: bool = False, into: IO[bytes] | None = None) -> str:
    """What it prints, or "" if that goes ``into`` a file."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            stdout=into or subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment(),
            check=False,
        )
    except OSError as error:
        if may_fail:
            return ""
        raise UsageError(f"git cannot be started: {error.strerror}") from None
    if done.returncode and not may_fail:
        raise UsageError(f"git {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return (done.stdout or b"").decode("utf-8", "surrogateescape") if not done.returncode else ""
