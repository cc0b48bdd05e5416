"""Levenshtein's distance between two sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

_SHORT = 1 << 16  # characters, for which 32 times their memory is little


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """The least number of insertions, deletions and substitutions that turn ``a`` into ``b``: two texts or two lists.

    RapidFuzz's; a pair costs a few nanoseconds per item of the longer one and 64 items of the shorter one, and memory
    in proportion to the shorter one.
    """
    from rapidfuzz.distance import Levenshtein

    if isinstance(a, str) and isinstance(b, str) and max(len(a), len(b)) <= _SHORT:
        return int(Levenshtein.distance(a, b))
    short, long = sorted((a, b), key=len)
    if not isinstance(short, str):  # RapidFuzz compares hashes, and -1 and -2 have the same
        codes = {item: code for code, item in enumerate(dict.fromkeys(short), 1)}
        short, long = ([codes.get(item, 0) for item in items] for items in (short, long))
    from rapidfuzz.process import extractOne

    # unlike Levenshtein.distance, this prepares the query, not the longer text, which would take 32 times its memory
    return int(extractOne(short, [long], scorer=Levenshtein.distance)[1])
