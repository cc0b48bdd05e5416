"""Mean average precision at k: ranked guesses against the right ones of each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlecore.metrics.words import ranked_hits


def map_at_k(truth: Sequence[str], predictions: Sequence[str], k: int, *, single: bool = False) -> float:
    """The mean over rows of sum(hits so far / rank) over the ranks of new right guesses, over min(k, right ones).

    Each row is a text with words between white space, or (``single``) single blanks: the guesses, best first. Only the
    first ``k`` count; a wrong or repeated one only uses up its rank. No truth is empty. With one right guess a row this
    is the mean of 1/rank.
    """
    hits, right = ranked_hits(truth, predictions, k, single=single)
    scores, so_far = np.zeros(len(hits)), np.zeros(len(hits), dtype=np.int64)
    for rank in range(k):
        so_far += hits[:, rank]
        scores += np.where(hits[:, rank], so_far / (rank + 1), 0)
    total = np.cumsum(scores / np.clip(right, 1, k))  # row by row, as published; np.sum would round otherwise
    return float(total[-1]) / len(total) if len(total) else float("nan")
