"""Mean average precision at k: ranked guesses against the right ones of each row."""

from __future__ import annotations

from collections.abc import Sequence


def map_at_k(truth: Sequence[str], predictions: Sequence[str], k: int, *, single: bool = False) -> float:
    """The mean over rows of sum(hits so far / rank) over the ranks of new right guesses, over min(k, right ones).

    Each row is a text with words between white space, or (``single``) single blanks: the guesses, best first. Only the
    first ``k`` count; a wrong or repeated one only uses up its rank. No truth is empty. With one right guess a row this
    is the mean of 1/rank.
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
