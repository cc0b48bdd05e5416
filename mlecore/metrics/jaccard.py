"""Jaccard index of the words of two texts."""

from __future__ import annotations

from collections.abc import Sequence

from mlecore.metrics.words import shared_words

_TOGETHER = 1 << 15  # texts


def word_jaccard(a: Sequence[str], b: Sequence[str]) -> list[float]:
    """|A & B| / |A | B| of the sets of words of each pair of texts; NaN where neither has a word.

    Words are split at white space, case ignored. Punctuation stays on the words; a repeated word counts once.
    """
    words = shared_words(_lower(a), _lower(b))
    either = (words.truth + words.predictions - words.both).tolist()
    return [both / of if of else float("nan") for both, of in zip(words.both.tolist(), either, strict=True)]


def _lower(texts: Sequence[str]) -> list[str]:
    """Many at once, between NULs: changing the case of a text takes longer than of its characters."""
    out: list[str] = []
    for start in range(0, len(texts), _TOGETHER):
        some = texts[start : start + _TOGETHER]
        joined = "\0".join(some)
        lower = joined.lower().split("\0") if joined.isascii() else []
        out += lower if len(lower) == len(some) else [text.lower() for text in some]
    return out
