"""Jaccard index of the words of two texts."""

from __future__ import annotations

from mlecore.submissions.cells import words


def word_jaccard(a: str, b: str) -> float:
    """|A & B| / |A | B| of the sets of words, split at white space, case ignored; NaN where neither has a word.

    Punctuation stays on the words; a repeated word counts once.
    """
    one, other = set(words(a.lower())), set(words(b.lower()))
    either = len(one | other)
    return len(one & other) / either if either else float("nan")
