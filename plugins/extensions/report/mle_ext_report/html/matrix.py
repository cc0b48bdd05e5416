"""Competitions by setups, with a square per run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from mle_ext_report.benchmark import SPLITS
from mle_ext_report.cells import one_line, score
from mle_ext_report.document import SetupSummary
from mle_ext_report.lines import RunLine
from mle_ext_report.pages.marks import Square, kind
from mle_ext_report.rates import MEDALS
from mle_ext_report.sections.results import by_competition, facts_line, mean_score

_WITH_SCORES = 4  # setups; with more of them, mean scores would make the table too wide


@frozen(kw_only=True)
class Cell:
    """Runs of one setup on one competition, by seed; ``score`` is the mean of the valid ones, empty if not shown."""

    squares: tuple[Square, ...]
    score: str


@frozen(kw_only=True)
class Matrix:
    """By split, each competition with a cell per setup. ``kinds`` of squares that occur."""

    rows: Mapping[str, Sequence[tuple[str, tuple[Cell, ...]]]]
    kinds: frozenset[str]

    @property
    def grouped(self) -> bool:
        """Are there several splits, and enough competitions to need them?"""
        return len(self.rows) > 1 and sum(map(len, self.rows.values())) > 8

    @property
    def medals(self) -> bool:
        return not self.kinds.isdisjoint(MEDALS)


def matrix(setups: Sequence[SetupSummary]) -> Matrix:
    """Columns are in the order of ``setups``."""
    links = {id(line): f"#run-{setup.key}-{at}" for setup in setups for at, line in enumerate(setup.runs)}
    scores = len(setups) <= _WITH_SCORES
    rows: dict[str, list[tuple[str, tuple[Cell, ...]]]] = {}
    for competition, by_setup in by_competition(setups).items():
        some = facts_line(by_setup)
        cells = tuple(_cell(by_setup.get(setup.key, ()), links, scores) for setup in setups)
        rows.setdefault(some.split or "other", []).append((one_line(competition), cells))
    squares = [square for of in rows.values() for _, cells in of for cell in cells for square in cell.squares]
    return Matrix(
        rows={
            split: rows[split]
            for split in dict.fromkeys([*SPLITS, *sorted(rows.keys() - {"other"}), "other"])
            if split in rows
        },
        kinds=frozenset(square.kind for square in squares)
        | ({"flagged"} if any(square.flagged for square in squares) else set()),
    )


def _cell(lines: Sequence[RunLine], links: Mapping[int, str], scores: bool) -> Cell:
    ordered = sorted(lines, key=lambda line: (line.seed, line.column))
    return Cell(
        squares=tuple(_square(line, links[id(line)]) for line in ordered),
        score=mean_score(lines) if scores else "",
    )


def _square(line: RunLine, link: str) -> Square:
    what = {"none": "no submission", "invalid": f"invalid: {line.why}"}.get(line.submission, line.submission)
    same = ", the same as the sample" if line.as_sample else ""
    flagged = (f", {line.reference}" if line.reference else "") + (", flagged" if line.suspicions else "")
    return Square(
        kind=kind(line.submission, line.medal, line.above_median, line.beats_sample),
        words=one_line(f"seed {line.column}: {score(line) if line.submission == 'valid' else what}{same}{flagged}"),
        link=link,
        flagged=bool(line.suspicions),
    )
