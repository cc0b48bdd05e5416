"""Mean average precision at k: ranked guesses against the right ones of each row."""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import islice


def map_at_k(truth: Iterable[Set[str]], predictions: Iterable[Iterable[str]], k: int) -> float:
    """The mean over rows of sum(hits so far / rank) over the ranks of new right guesses, over min(k, right ones).

    Only the first ``k`` guesses count; a wrong or repeated one only uses up its rank. No truth is empty. With
    one right guess a row this is the mean of 1/rank.
    """
    total, rows = 0.0, 0
    for right, ranked in zip(truth, predictions, strict=True):
        rows += 1
        first = list(islice(ranked, k))
        if right.isdisjoint(first):  # most rows, where there are many labels
            continue
        hits, score, seen = 0, 0.0, set()
        for rank, label in enumerate(first, 1):
            if label in right and label not in seen:
                seen.add(label)
                hits += 1
                score += hits / rank
        total += score / min(len(right), k)
    return total / rows if rows else float("nan")
