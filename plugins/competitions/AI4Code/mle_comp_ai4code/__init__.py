"""Google AI4Code: the order of the cells in a notebook."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, link_files, read_csv, read_json, words, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

TEST = 20_000  # notebooks


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
    for ranks in _ranks(*format.read(submission, private / "test_orders.csv")):
        swaps += inversions(ranks)
        pairs += len(ranks) * (len(ranks) - 1)
    if not pairs:
        raise InvalidSubmission("no notebook of the answers has two cells: every submission fails")
    return 1 - 4 * swaps / pairs


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> None:
    for _ in _ranks(asked, predictions):
        pass  # raises if a notebook has other cells


def _ranks(truth: DataFrame, predictions: DataFrame) -> Iterator[list[int]]:
    """For each notebook, where the submission puts its cells. Raises InvalidSubmission if one has other cells."""
    orders = [table["cell_order"].astype(str).tolist() for table in (truth, predictions)]
    for id, right, said in zip(truth["id"].tolist(), *orders, strict=True):
        wanted = right.split()
        count = sum(1 for _ in words(said))
        if count != len(wanted):
            raise InvalidSubmission(f"cell_order of {id} has another number of cells: {count}, expected {len(wanted)}")
        places = {cell: place for place, cell in reversed(list(enumerate(said.split())))}
        if absent := next((cell for cell in wanted if cell not in places), None):
            raise InvalidSubmission(f"cell_order of {id} lacks the cell {absent}: each must be there once")
        yield [places[cell] for cell in wanted]


def inversions(ranks: Sequence[int]) -> int:
    """Pairs in the wrong order."""
    found = 0
    before: list[int] = []  # sorted
    for rank in ranks:
        found += len(before) - bisect_right(before, rank)
        insort(before, rank)
    return found
