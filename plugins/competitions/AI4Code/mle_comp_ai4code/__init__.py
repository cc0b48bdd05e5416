"""Google AI4Code: the order of the cells in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore.prepare import ensure, link_files, read_csv, read_json, write_csv
from mlecore.submissions import Format, Table, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

    Integers = NDArray[np.int64]

TEST = 20_000  # notebooks
_TOGETHER = 1 << 14  # notebooks whose cells are compared at once


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    ancestors = read_csv(raw / "train_ancestors.csv").sample(frac=1, random_state=0).reset_index(drop=True)
    tested = _tested(ancestors)
    orders = read_csv(raw / "train_orders.csv")[["id", "cell_order"]]
    in_test = orders["id"].isin(tested)
    train = orders[~in_test & orders["id"].isin(ancestors["id"])]
    test = orders[in_test]
    ensure(len(test) == TEST, f"train_orders.csv has {len(test):,} of the {TEST:,} notebooks for testing")
    write_csv(train, public / "train_orders.csv")
    write_csv(test, private / "test_orders.csv")
    write_csv(ancestors[~ancestors["id"].isin(tested)], public / "train_ancestors.csv")
    for name, part in (("train", train), ("test", test)):
        link_files(raw / "train", public / name, sorted(f"{id}.json" for id in part["id"]))
    shown = [" ".join(read_json(raw / "train" / f"{id}.json")["cell_type"]) for id in test["id"]]
    write_csv(test[["id"]].assign(cell_order=shown), public / "sample_submission.csv")


def _tested(ancestors: DataFrame) -> set[str]:
    """Notebooks of a common origin stay together: their groups join the test part one after the other, if they fit."""
    tested: set[str] = set()
    for _, ids in ancestors.groupby("ancestor_id", sort=False)["id"]:
        if len(tested) + len(ids) <= TEST:
            tested.update(ids)
    ensure(len(tested) == TEST, f"the groups of notebooks hold {len(tested):,} for testing, expected {TEST:,}")
    return tested


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """Kendall's tau over all notebooks: 1 - 4 swaps / (sum of n(n - 1))."""
    swaps = pairs = 0
    for counts, ranks in _ranks(*format.read(submission, private / "test_orders.csv")):
        swaps += inversions(counts, ranks)
        pairs += int((counts * (counts - 1)).sum())
    if not pairs:
        raise InvalidSubmission("no notebook of the answers has two cells: every submission fails")
    return 1 - 4 * swaps / pairs


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> None:
    for _ in _ranks(asked, predictions):
        pass  # raises if a notebook has other cells


def _ranks(truth: DataFrame, predictions: DataFrame) -> Iterator[tuple[Integers, Integers]]:
    """Of many notebooks at a time, how many cells each has, and where the submission puts them, one after the other.

    Raises InvalidSubmission if a notebook has other cells.
    """
    import numpy as np

    orders = [table["cell_order"].astype(str).tolist() for table in (truth, predictions)]
    for start in range(0, len(truth), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        right, said = (each[some] for each in orders)
        found = _ranks_together(right, said)
        if found is None:
            each = [_ranks_of(*notebook) for notebook in zip(truth["id"].iloc[some], right, said, strict=True)]
            found = np.array(list(map(len, each))), np.array([rank for ranks in each for rank in ranks], dtype=np.int64)
        yield found


def _ranks_together(right: Sequence[str], said: Sequence[str]) -> tuple[Integers, Integers] | None:
    """For notebooks with single blanks between the same cells, none of them twice; None if one is not so.

    Each cell becomes a number, its notebook's in front. Then those of either side are the same if sorted.
    """
    import numpy as np
    import polars as pl

    joined = "".join([*right, *said])
    if not (joined.isascii() and joined.isprintable()):
        return None
    split = [pl.Series(cells, dtype=pl.String).str.split(" ") for cells in (right, said)]
    counts, others = (cells.list.len().to_numpy().astype(np.int64) for cells in split)
    names = pl.concat([cells.explode() for cells in split])
    if (counts != others).any() or (names == "").any():
        return None
    codes = names.cast(pl.Categorical).to_physical().to_numpy().reshape(2, -1).astype(np.int64)
    keys = codes + (np.repeat(np.arange(len(counts)), counts) << 32)
    wanted, given = np.argsort(keys, axis=1)
    if (keys[0][wanted] != keys[1][given]).any() or (np.diff(keys[0][wanted]) == 0).any():
        return None
    ranks = np.empty_like(wanted)
    ranks[wanted] = given
    return counts, ranks - np.repeat(np.cumsum(counts) - counts, counts)


def _ranks_of(id: str, right: str, said: str) -> list[int]:
    """For one notebook."""
    wanted = right.split()
    count = sum(1 for _ in words(said))
    if count != len(wanted):
        raise InvalidSubmission(f"cell_order of {id} has another number of cells: {count}, expected {len(wanted)}")
    places = {cell: place for place, cell in reversed(list(enumerate(said.split())))}
    if absent := next((cell for cell in wanted if cell not in places), None):
        raise InvalidSubmission(f"cell_order of {id} lacks the cell {absent}: each must be there once")
    return [places[cell] for cell in wanted]


def inversions(counts: Integers, ranks: Integers) -> int:
    """Pairs in the wrong order within lists of so many ranks, which lie one behind the other.

    Ranks are sorted as by radix from their highest bit: at each bit, those that agree in the higher ones are together,
    and one without it swaps with those before it that have it.
    """
    import numpy as np

    found = 0
    first = np.repeat(np.cumsum(counts) - counts, counts)  # of those that are together, for each rank
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        high = ranks >> bit & 1
        before = np.cumsum(high) - high
        before -= before[first]
        found += int(before[high == 0].sum())
        last = np.append(np.flatnonzero(np.diff(first)), len(first) - 1)
        low = np.arange(len(first)) - first - before  # those without it before each
        lows = np.zeros(len(first), dtype=np.int64)
        lows[first[last]] = (low + 1 - high)[last]
        middle = first + lows[first]
        place = np.where(high, middle + before, first + low)
        ranks, first = _moved(ranks, place), _moved(np.where(high, middle, first), place)
    return found


def _moved(values: Integers, places: Integers) -> Integers:
    out = values.copy()
    out[places] = values
    return out
