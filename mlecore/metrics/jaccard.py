"""Jaccard index of the words of two texts."""

from __future__ import annotations

from collections.abc import Sequence

from mlecore.metrics.words import shared_words


def word_jaccard(a: Sequence[str], b: Sequence[str]) -> list[float]:
    """|A & B| / |A | B| of the sets of words of each pair of texts; NaN where neither has a word.

    Words are split at white space, case ignored. Punctuation stays on the words; a repeated word counts once.
    """
    words = shared_words([text.lower() for text in a], [text.lower() for text in b])
    either = (words.truth + words.predictions - words.both).tolist()
    return [both / of if of else float("nan") for both, of in zip(words.both.tolist(), either, strict=True)]
