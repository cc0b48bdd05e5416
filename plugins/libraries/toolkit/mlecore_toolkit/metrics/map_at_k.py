"""Mean average precision at k of ranked predictions."""

from __future__ import annotations

from collections.abc import Sequence


def map_at_k(truth: Sequence[str], predictions: Sequence[str], k: int, *, single: bool = False) -> float:
    """The mean over rows of sum(hits so far / rank), over the ranks of new hits, divided by min(k, true words).

    Each row is a text of words separated by white space, or (``single``) by single blanks; predictions are best first.
    Only the first ``k`` count; a wrong or repeated one uses up its rank. No truth is empty. If each row has one true
    word, this is the mean of 1/rank.
    """
    separator = " " if single else None
    total = 0.0
    for right, guesses in zip(truth, predictions, strict=True):
        asked = set(right.split(separator))
        left, hits, score = set(asked), 0, 0.0
        for rank, guess in enumerate(guesses.split(separator, k)[:k], 1):
            if guess in left:
                left.remove(guess)
                hits += 1
                score += hits / rank
        total += score / max(1, min(k, len(asked)))
    return total / len(truth) if truth else float("nan")
