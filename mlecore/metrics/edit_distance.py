"""Levenshtein's distance between two sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SHORT = 1 << 16  # characters, for which 32 times their memory is little; a pair then takes a quarter of the time


def edit_distances(a: Sequence[str], b: Sequence[str]) -> NDArray[np.int64]:
    """``edit_distance`` of each pair of texts, in a quarter of the time.

    Raises ValueError if there are more of one than of the other.
    """
    import numpy as np
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    if max(map(len, a), default=0) > _SHORT or max(map(len, b), default=0) > _SHORT:
        return np.array([edit_distance(*pair) for pair in zip(a, b, strict=True)], dtype=np.int64)
    return np.asarray(cpdist(a, b, scorer=Levenshtein.distance, dtype=np.int64))


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
