"""The kit's rule groups: a declared group that is in both parts of the split is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.slow

Edits = dict[str, tuple[str, str]]
Judge = Callable[..., list[str]]

DECLARED = ("[obfuscated]", 'group = "square"\n\n[obfuscated]')
SPLIT = 'split(read_csv(raw / "points.csv"), test_size=0.2)'
BY_GROUP = 'split_groups(read_csv(raw / "points.csv"), "square", test_size=0.2)'
WITH_GROUPS: Edits = {  # each point is in one of 100 squares
    "synthetic.py": (
        "    write_csv(points",
        "    points['square'] = (x * 5).astype(int) + 10 * (y * 5).astype(int)\n    write_csv(points",
    ),
    "competition.toml": DECLARED,
}


def test_whole_groups_are_fine(judge: Judge) -> None:
    whole = {
        "__init__.py": (
            f"train, test = {SPLIT}",
            f"from mlecore_toolkit import split_groups\n    train, test = {BY_GROUP}",
        )
    }
    assert judge("groups", {**WITH_GROUPS, **whole}) == []


def test_a_group_that_no_table_has_is_found(judge: Judge) -> None:
    found = judge("groups", {"competition.toml": DECLARED})
    assert any("no table has 'square' beside the ids of test rows" in place for place in found), found


def test_groups_of_test_rows_may_be_private(judge: Judge) -> None:
    hidden = {
        "__init__.py": (
            'write_csv(test.drop(columns="inside"), public / "test.csv")\n    write_csv(test[["id", "inside"]]',
            'write_csv(test[["id", "x"]], public / "test.csv")\n    write_csv(test[["id", "inside", "square"]]',
        )
    }
    (found,) = judge("groups", {**WITH_GROUPS, **hidden})
    assert "test groups are in the training data, too" in found
