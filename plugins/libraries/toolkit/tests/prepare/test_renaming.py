"""New names and numbers: distinct, in the form asked for, and telling nothing of the old ones."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore_toolkit import new_names, rename_rows, shuffled, write_renamed


def rank_correlation(values: list[int]) -> float:
    """Spearman's, of distinct values with their places."""
    n = len(values)
    ranks = {value: rank for rank, value in enumerate(sorted(values))}
    return 1 - 6 * sum((ranks[value] - place) ** 2 for place, value in enumerate(values)) / (n * (n * n - 1))


OLD = [f"{number:04}.wav" for number in range(2000)]


def test_names_have_the_form_and_are_new() -> None:
    new = new_names(OLD, "t_####-####.wav", seed=2)
    assert set(new) == set(OLD)
    assert len(set(new.values())) == len(OLD)
    assert all(re.fullmatch(r"t_[0-9a-f]{4}-[0-9a-f]{4}\.wav", name) for name in new.values())
    assert list(new.values()) == sorted(new.values())


def test_names_are_neither_old_nor_taken() -> None:
    old, taken = [f"{number:02x}" for number in range(40)], [f"{number:02x}" for number in range(40, 80)]
    assert not set(new_names(old, "##", seed=0, taken=taken).values()) & {*old, *taken}
    with pytest.raises(DataError, match="too few digits for 40"):
        new_names(old, "#", seed=0)


def test_they_depend_on_the_seed_and_not_on_the_order() -> None:
    mixed = random.Random(5).sample([*OLD, *OLD], 2 * len(OLD))
    assert new_names(mixed, "########", seed=2) == new_names(OLD, "########", seed=2)
    assert new_names(OLD, "########", seed=3) != new_names(OLD, "########", seed=2)
    assert shuffled(mixed, seed=2) == shuffled(OLD, seed=2) != shuffled(OLD, seed=3)


def test_the_old_order_is_gone() -> None:
    new = new_names(OLD, "########", seed=2)
    assert abs(rank_correlation([int(new[name], 16) for name in OLD])) < 0.1
    numbers = shuffled(range(10, 2010), seed=2)
    assert sorted(numbers) == sorted(numbers.values()) == list(range(10, 2010))
    assert abs(rank_correlation([numbers[number] for number in range(10, 2010)])) < 0.1
    assert list(numbers.values()) == sorted(numbers.values())


def test_rows_follow_the_new_names() -> None:
    table = pd.DataFrame({"id": [5, 1, 9, 5], "x": list("abcd")})
    renamed = rename_rows(table, "id", {5: 9, 1: 5, 9: 1})
    assert renamed.to_numpy().tolist() == [[1, "c"], [5, "b"], [9, "a"], [9, "d"]]
    with pytest.raises(DataError, match=r"id 1 has no new name \(1 have none\)"):
        rename_rows(table, "id", {5: 9, 9: 1})


def test_the_record(tmp_path: Path) -> None:
    write_renamed({7: 3, 3: 7}, tmp_path / "names.csv")
    assert (tmp_path / "names.csv").read_text() == "old,new\n7,3\n3,7\n"
