"""What one measure found about one competition, and its interval."""

from __future__ import annotations

import math
from typing import Literal

from attrs import frozen

Measure = Literal["text", "questions", "answers"]


@frozen(kw_only=True)
class Measured:
    """From 0 to 1. ``base`` is what a model that does not know the competition gets."""

    competition: str
    measure: Measure
    value: float  # text: mean probability of a token; else the share of right answers
    base: float  # text: of the obfuscated description; questions: by guessing; answers: by the most frequent label
    count: int  # tokens, questions or labels
    unreadable: int = 0  # answers in another form than asked for; they count as wrong
    low: float | None = None  # the 95 % interval of ``value``
    high: float | None = None
    p: float | None = None  # of at least as many right answers by chance
    position: float | None = None  # of the groups' runs, from 0 (the sample submission) to 1 (gold)

    @property
    def difference(self) -> float:
        return self.value - self.base


def at_least(right: int, chances: list[float]) -> float:
    """The probability of so many right answers or more, if each is right by its own chance (Poisson binomial)."""
    counts = [1.0]
    for chance in chances:
        longer = [*counts, 0.0]
        for number, probability in enumerate(counts):
            longer[number] -= probability * chance
            longer[number + 1] += probability * chance
        counts = longer
    return min(1.0, math.fsum(counts[right:]))
