"""Jaccard index of the words of two texts."""

from __future__ import annotations

from collections.abc import Sequence

from mlecore_toolkit.submissions.cells import words


def word_jaccard(a: Sequence[str], b: Sequence[str]) -> list[float]:
    """|A & B| / |A | B| of the sets of words of each pair of texts; NaN where neither has a word.

    Words are split at white space, case ignored. Punctuation stays on the words; a repeated word counts once.
    """
    sets = [(set(words(one.lower())), set(words(other.lower()))) for one, other in zip(a, b, strict=True)]
    return [len(one & other) / len(one | other) if one or other else float("nan") for one, other in sets]
