"""Check: does the grader pair rows by key, and reject what is no answer? Perfect submissions, each with one flaw."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import islice

from attrs import frozen

from mlecore.errors import DataError, GradingError, InvalidSubmission, MlecoreError, PluginError
from mlecore.util.scratch import scratch
from mlecore_audit.finding import Finding
from mlecore_audit.mutants import Grid, mutants
from mlecore_audit.subject import Subject
from mlecore_toolkit.submissions.format import Column

_SECONDS = 20.0  # after which no more flaws and mutants are tried
_MUTANTS = 120
_CLOSE = 1e-9  # relative difference of equal scores


@frozen(kw_only=True)
class Flaw:
    """A change to a perfect submission."""

    kind: str
    words: str  # what was changed
    change: Callable[[Grid], Grid]
    harmless: bool = False  # it must not change the score; all others must be rejected


@frozen
class Verdict:
    """What ``check`` or ``grade`` said: a score (of grade), a rejection with its reason, or a crash."""

    score: float | None = None
    rejection: str | None = None
    crash: str | None = None


def examine(subject: Subject) -> Iterator[Finding]:
    text = subject.perfect.to_csv(index=False, lineterminator="\n").encode()
    perfect, grid = grade(subject, text), Grid.parse(text)
    if perfect.score is None:
        if perfect.crash is not None:
            subject.failed("grade", f"it fails on the perfect submission: {perfect.crash}")
        yield _finding("perfect", f"the perfect submission gets no score: {perfect.rejection or perfect.crash}")
        return
    sample = subject.sample_score
    if sample is None or math.isnan(sample):
        yield _finding("sample", f"the sample submission {'is rejected' if sample is None else 'scores NaN'}")
    start = time.monotonic()
    for flaw in flaws(subject, grid):
        if time.monotonic() - start > _SECONDS:
            break
        verdict = grade(subject, flaw.change(grid).render())
        if verdict.crash is not None:
            yield _finding(flaw.kind, f"grade fails where {flaw.words}: {verdict.crash}")
        elif flaw.harmless and not _same(verdict.score, perfect.score):
            said = f"is rejected ({verdict.rejection})" if verdict.score is None else f"scores {verdict.score:.5g}"
            words = f"a perfect submission where {flaw.words} {said}; as it was, it scores {perfect.score:.5g}"
            yield _finding(flaw.kind, words)
        elif not flaw.harmless and verdict.score is not None:
            words = f"grade accepts a submission where {flaw.words}, with the score {verdict.score:.5g}"
            yield _finding(flaw.kind, words)
    yield from _agreement(subject, text, start)


def flaws(subject: Subject, grid: Grid) -> Iterator[Flaw]:
    """What a strict grader rejects or ignores. ``grid``: a perfect submission."""
    rows = len(grid.rows)
    yield Flaw(kind="position pairing", words="rows are reversed", change=_rows(lambda r: r[::-1]), harmless=True)
    if rows > 1:
        yield Flaw(kind="repeats", words="one row occurs twice", change=_rows(lambda r: [*r, r[0]]))
        yield Flaw(kind="repeats", words="one row replaces another", change=_rows(lambda r: [r[1], *r[1:]]))
        yield Flaw(kind="missing rows", words="the last row is missing", change=_rows(lambda r: r[:-1]))
        yield Flaw(kind="missing rows", words="half of the rows are missing", change=_rows(lambda r: r[: rows // 2]))
    at = grid.header.index(subject.keys[0])
    yield Flaw(
        kind="foreign keys",
        words="one more row has an unknown key",
        change=_rows(lambda r: [*r, (*r[0][:at], "unknown-key", *r[0][at + 1 :])]),
    )
    for target in subject.targets[:2]:
        rule = subject.competition.format.expand(subject.targets).get(target)
        for kind, cell in _cells_of(rule) if rule else ():
            words = f"a cell of {target!r} is {cell!r}" if cell else f"a cell of {target!r} is empty"
            yield Flaw(kind=kind, words=words, change=lambda grid, t=target, c=cell: grid.with_cell(rows // 2, t, c))  # type: ignore[misc]


def _cells_of(rule: Column) -> Iterator[tuple[str, str]]:
    """Kinds of flaws, and a cell that has each."""
    type, low, high = rule.type, rule.low, rule.high
    if type in ("number", "label", "integer"):
        yield "missing values", ""
        yield "infinite values", "inf"
        yield "text", "abc"
    if type in ("label", "integer"):
        yield "fractions", "0.5"
        yield "foreign classes", "987654"
    if type == "number" and math.isfinite(high):
        yield "range", repr(high + 1)
    if type == "number" and math.isfinite(low):
        yield "range", repr(low - 1)
    if type == "mask":
        yield "run lengths", "1"
        yield "run lengths", "1 2 3"
        yield "run lengths", "1 999999999999"


def grade(subject: Subject, text: bytes) -> Verdict:
    """What ``grade`` makes of a file of these bytes."""
    return _verdict(subject, text, grade=True)


def _verdict(subject: Subject, text: bytes, *, grade: bool) -> Verdict:
    with scratch() as folder:
        path = folder / "submission.csv"
        path.write_bytes(text)
        try:
            if not grade:
                subject.competition.check(path, subject.prepared.public)
                return Verdict()
            return Verdict(score=subject.competition.grade(path, subject.prepared.private, subject.prepared.public))
        except InvalidSubmission as reason:
            return Verdict(rejection=str(reason))
        except (GradingError, PluginError, DataError, MlecoreError) as error:
            return Verdict(crash=str(error))


def _agreement(subject: Subject, text: bytes, start: float) -> Iterator[Finding]:
    """Mutants of the perfect submission that only one of ``check`` and ``grade`` accepts: one finding for each way."""
    unsound, incomplete, tried = [], [], 0
    for mutant in islice(mutants({"perfect": text}, subject.keys, 0), _MUTANTS):
        if time.monotonic() - start > 2 * _SECONDS:
            break
        tried += 1
        checked, graded = (_verdict(subject, mutant.data, grade=grades) for grades in (False, True))
        for hook, verdict in (("check", checked), ("grade", graded)):
            if verdict.crash is not None:
                subject.failed(hook, f"it fails on the perfect submission with {mutant.name!r}: {verdict.crash}")
        if checked.rejection is not None and graded.score is not None:
            unsound.append(mutant.name)
        if graded.rejection is not None and checked.rejection is None and checked.crash is None:
            incomplete.append(mutant.name)
    if unsound:
        words = f"check rejects {len(unsound)} of {tried} mutants that grade accepts, such as {unsound[0]!r}"
        yield _finding("agreement", words, "check")
    if incomplete:
        words = f"check accepts {len(incomplete)} of {tried} mutants that grade rejects, such as {incomplete[0]!r}"
        yield _finding("agreement", words, "check")


def _rows(change: Callable[[list[tuple[str, ...]]], list[tuple[str, ...]]]) -> Callable[[Grid], Grid]:
    return lambda grid: grid.with_rows(change(list(grid.rows)))


def _same(score: float | None, other: float) -> bool:
    return score is not None and math.isclose(score, other, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _finding(kind: str, words: str, file: str = "grade") -> Finding:
    return Finding(level="caution", kind=kind, file=file, evidence=words)
