"""Words of the cells of two columns, compared row by row, for all rows at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

_TOGETHER = 1 << 15  # cells


@frozen(eq=False)
class Shared:
    """How many different words each row has on either side, and on both."""

    truth: Counts
    predictions: Counts
    both: Counts


def shared_words(truth: Sequence[str], predictions: Sequence[str], known: Collection[str] | None = None) -> Shared:
    """Words are separated by white space. ``known``: predicted words other than these do not count."""
    import numpy as np

    if len(truth) != len(predictions):
        raise ValueError(f"there are {len(truth)} and {len(predictions)} rows")
    parts = []
    for start in range(0, len(truth), _TOGETHER):
        sides = [side[start : start + _TOGETHER] for side in (truth, predictions)]
        (rows, asked), (places, given) = (_words(side) for side in sides)
        if known is not None:
            import polars as pl

            kept = given.is_in(pl.Series(list(known), dtype=pl.String).implode())
            places, given = places[kept.to_numpy()], given.filter(kept)
        first, second = _coded(rows, asked, places, given)
        a, b = (_distinct(side) for side in (first, second))
        together = np.sort(np.concatenate([a, b]))
        both = together[1:][together[1:] == together[:-1]]
        parts.append([np.bincount(keys >> 32, minlength=len(sides[0])) for keys in (a, b, both)])
    counts = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.empty(0, dtype=int)] * 3
    return Shared(*counts)


def distinct_words(cells: Sequence[str]) -> set[str]:
    """Those of all cells."""
    found: set[str] = set()
    for start in range(0, len(cells), _TOGETHER):
        found.update(_words(cells[start : start + _TOGETHER])[1].unique().to_list())
    return found


def ranked_hits(
    truth: Sequence[str], predictions: Sequence[str], k: int, *, single: bool
) -> tuple[NDArray[np.bool_], Counts]:
    """Which of the first ``k`` words of each row's prediction (rows x k) are in its truth and come for the first time.

    Also how many different words each row's truth has. Words are separated by white space, or (``single``) blanks.
    """
    import numpy as np

    hits, counts = np.zeros((len(truth), k), dtype=bool), np.zeros(len(truth), dtype=np.int64)
    for start in range(0, len(truth), _TOGETHER):
        sides = [side[start : start + _TOGETHER] for side in (truth, predictions)]
        (rows, asked), (places, given) = (_words(side, single=single) for side in sides)
        rank = np.arange(len(places)) - np.searchsorted(places, places)
        first = rank < k
        a, b = _coded(rows, asked, places[first], given.filter(first))
        order = np.argsort(b, kind="stable")
        new = order[np.r_[True, b[order][1:] != b[order][:-1]]] if len(order) else order
        asked_keys = _distinct(a)
        right = new[np.isin(b[new], asked_keys, assume_unique=True, kind="sort")]
        hits[start + places[first][right], rank[first][right]] = True
        counts[start : start + _TOGETHER] = np.bincount(asked_keys >> 32, minlength=len(sides[0]))
    return hits, counts


def _words(cells: Sequence[str], *, single: bool = False) -> tuple[Counts, pl.Series]:
    """The row of each word, and the words; ``single``: as by ``split(" ")``, else as by ``split()``."""
    import numpy as np
    import polars as pl

    texts = pl.Series(cells, dtype=pl.String)
    if not single and texts.str.contains(r"[^\S ]|[\x1c-\x1f\x85]").any():  # that Python takes for white space
        texts = pl.Series([" ".join(cell.split()) for cell in cells], dtype=pl.String)
    split = texts.str.split(" ")
    rows = np.repeat(np.arange(len(texts)), split.list.len().to_numpy())
    words = split.explode()
    if single:
        return rows, words
    filled = words != ""
    return rows[filled.to_numpy()], words.filter(filled)


def _coded(rows: Counts, words: pl.Series, others: Counts, other_words: pl.Series) -> tuple[Counts, Counts]:
    """A number for each word of either side: its row, and 32 bits in which equal words are equal."""
    import polars as pl

    codes = pl.concat([words, other_words]).cast(pl.Categorical).to_physical().cast(pl.Int64).to_numpy()
    return (rows << 32) + codes[: len(rows)], (others << 32) + codes[len(rows) :]


def _distinct(keys: Counts) -> Counts:
    """Sorted, each once; numpy's ``unique`` takes a hundred times as long."""
    import numpy as np

    keys = np.sort(keys)
    return keys[np.r_[True, keys[1:] != keys[:-1]]] if len(keys) else keys
