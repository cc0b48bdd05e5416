"""Humpback Whale Identification Challenge: whose fluke is on a photograph?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, ensure_unique, link_files, map_at_k, read_csv, split, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame

NEW = "new_whale"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = read_parts(raw)
    write(raw, public, private, train, test, {image: image for image in test["Image"]})


def read_parts(raw: Path) -> tuple[DataFrame, DataFrame]:
    """The rows of train.csv for training, and those for testing."""
    table = read_csv(raw / "train.csv")
    ensure_unique(table["Image"], "images of train.csv")
    in_test = _in_test(table["Id"])
    return table[~in_test], table[in_test]


def write(raw: Path, public: Path, private: Path, train: DataFrame, test: DataFrame, tested: Mapping[str, str]) -> None:
    """Tables and photographs; ``tested``: those for testing, old name to the name that ``test`` has."""
    answers = test.assign(Id=test["Id"].where(test["Id"].isin(train["Id"]), NEW))
    ensure((answers["Id"] == NEW).any(), f"no image of the test part is of a {NEW}")
    write_csv(train, public / "train.csv")
    write_csv(answers, private / "test.csv")
    sample = answers.assign(Id=f"{NEW} w_1287fbc w_98baff9 w_7554f44 w_1eafe46")
    write_csv(sample, public / "sample_submission.csv")
    link_files(raw / "train", public / "train", train["Image"])
    link_files(raw / "train", public / "test", tested)


def _in_test(ids: Iterable[str]) -> NDArray[np.bool_]:
    """Which rows are for testing: one of each whale with several, a tenth of those with one, a tenth of the rest."""
    import numpy as np

    rows: dict[str, list[int]] = {}  # of each whale, in order of first appearance
    for row, id in enumerate(ids):
        rows.setdefault(id, []).append(row)
    rng = np.random.default_rng(0)
    rest, tested = [], []
    for mine in rows.values():
        if len(mine) == 1:
            tested += mine if rng.random() >= 0.9 else []
            continue
        order = np.random.RandomState(0).permutation(len(mine))
        tested.append(mine[order[1]])
        rest += [mine[place] for place in order[2:]]
    tested += split(sorted(rest), test_size=0.1)[1]
    in_test = np.zeros(sum(map(len, rows.values())), dtype=bool)
    in_test[tested] = True
    return in_test


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    asked, given = (table["Id"].astype(str).tolist() for table in (truth, predictions))
    return map_at_k(asked, given, 5, single=True)
