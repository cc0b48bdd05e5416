"""Entries that show runs or submissions of another one: somebody copied an export, or exported a group twice.

Which of two entries was first is told by git, see ``changes.added``. A copy cannot be told from a deterministic agent
that was run again, whose results belong into a countersignature of the first entry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from attrs import field, frozen

from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.changes import added
from mle_ext_leaderboard.results import RunResult, read_results
from mle_ext_leaderboard.rules import Level, Remark
from mle_ext_leaderboard.statements import signers
from mlecore.errors import MlecoreError
from mlecore.util.units import counted, first

_NEWEST = 2**63  # place of an entry that is in no commit
_DIGITS = 5  # of a score that two agents hardly share by chance
_SCORES = 3  # as many of these at least
_WHY: Mapping[Level, str] = {
    "error": ", which was here first; who ran its agent again countersigns it (mlecore runs verify --countersign)",
    "undecided": "; the history of git does not tell which was here first",
    "warning": ", which the same key signed",
}


@frozen(kw_only=True)
class Known:
    """What is compared of all entries that can be read."""

    groups: Mapping[str, str]  # entry -> random id of its group
    earning: Mapping[str, tuple[RunResult, ...]]  # entry -> runs that raise a rate; only these are worth a copy
    added: Mapping[str, int]  # entry -> number of the commit that added it; a larger one is newer
    marks: Mapping[tuple[str, str], Set[str]] = field(init=False)  # (competition, mark of a run) -> entries

    @marks.default
    def _marks(self) -> Mapping[tuple[str, str], Set[str]]:
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for name, runs in self.earning.items():
            for run in runs:
                for mark in filter(None, (run.submission_sha256, _telling(run.score))):
                    found[run.competition, mark].add(name)
        return found

    def sharing(self, competition: str, mark: str) -> Set[str]:
        """Entries with a run on a competition that has this mark."""
        return self.marks.get((competition, mark), frozenset())


def known_of(board: Board, base: str = "HEAD") -> Known:
    """``base``: the branch or commit whose main line tells which entries were first."""
    results = {}
    for name in board.names():
        try:
            results[name] = read_results(board.entry_folder(name))
        except MlecoreError:
            continue
    return Known(
        groups={name: each.group_uid for name, each in results.items()},
        earning={name: tuple(run for run in each.runs if run.earns) for name, each in results.items()},
        added=added(board.folder, base),
    )


def duplicates(board: Board, name: str, known: Known) -> Iterator[Remark]:
    """What an entry shares with those that are not newer. A correction may show the same runs again."""
    mine, place = known.earning.get(name, ()), known.added.get(name, _NEWEST)
    twins = {other for other, uid in known.groups.items() if uid == known.groups.get(name)}
    shared = {other: set[int]() for other in twins} | _shared(known, mine)
    corrected = _corrected(board, name)
    copied: dict[Level, dict[str, set[int]]] = {"error": {}, "undecided": {}, "warning": {}}
    for other, runs in sorted(shared.items()):
        theirs = known.added.get(other, _NEWEST)
        if other == name or theirs > place or other in corrected or name in _corrected(board, other):
            continue
        level: Level = "error" if theirs < place else "undecided"
        if other in twins:
            yield Remark(level=level, check="results", words=f"its runs are those of the entry {other}{_WHY[level]}")
        else:
            copied[level][other] = runs
    if _count(copied["error"] | copied["undecided"]) > len(mine) / 2:  # else, whose they are makes no difference
        for found in (copied["error"], copied["undecided"]):
            for other in [each for each in found if _same_signer(board, name, each)]:
                copied["warning"][other] = found.pop(other)
    for level, found in copied.items():
        if count := _count(found):
            words = (
                f"{count} of {counted(len(mine), 'submission')} with a medal, or better than the sample, are also in "
            )
            words += ", ".join(first([*found], 3))
            if count > len(mine) / 2:
                yield Remark(level=level, check="results", words=words + _WHY[level])
            else:
                yield Remark(level="warning", check="results", words=words)


def _count(copied: Mapping[str, set[int]]) -> int:
    return len(set[int]().union(*copied.values()))


def _shared(known: Known, mine: Sequence[RunResult]) -> dict[str, set[int]]:
    """Entry -> numbers of the runs whose submissions it has, too: by their digests, or by most of their scores."""
    found: dict[str, set[int]] = defaultdict(set)
    scores: dict[str, set[int]] = defaultdict(set)
    for number, run in enumerate(mine):
        for other in known.sharing(run.competition, run.submission_sha256):
            found[other].add(number)
        for other in known.sharing(run.competition, _telling(run.score)):
            scores[other].add(number)
    for other, numbers in scores.items():
        if len(numbers) >= max(_SCORES, len(mine) / 2):
            found[other] |= numbers
    return found


def _corrected(board: Board, name: str) -> set[str]:
    """Entries that an entry corrects, also through other corrections."""
    found: set[str] = set()
    try:
        while (name := board.entry(name).corrects) and name not in found:
            found.add(name)
    except MlecoreError:
        pass
    return found


def _same_signer(board: Board, *names: str) -> bool:
    """Did one key sign all of these as the one that ran them? A lab may show its submissions under other conditions."""
    try:
        return bool(frozenset.intersection(*(signers(board, name) for name in names)))
    except MlecoreError:
        return False


def _telling(score: str) -> str:
    """A score with so many digits that it is nearly as good as a digest of the submission; else "".

    Grading again allows for a difference of 1e-9, which must not hide a copy.
    """
    try:
        rounded = f"{float(score):.8g}"
    except ValueError:
        return ""
    return rounded if sum(letter.isdigit() for letter in rounded.lstrip("-0.")) >= _DIGITS else ""
