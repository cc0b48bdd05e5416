"""Pairs of predictions and truths, for all groups at once, are those found one by one."""

from __future__ import annotations

import numpy as np
import pytest

from mlecore.metrics import pairs as module
from mlecore.metrics.pairs import pairs, taken

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("at_once", [1, 7, 100_000])
def test_all_pairs_of_a_group_in_order(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    groups, others = RNG.integers(0, 9, 40), RNG.integers(0, 12, 30)
    wanted = [(i, j) for i in range(40) for j in range(30) if groups[i] == others[j]]
    parts = list(pairs(groups, others))
    assert [pair for i, j in parts for pair in zip(i.tolist(), j.tolist(), strict=True)] == wanted
    assert all(set(parts[k][0]).isdisjoint(parts[k + 1][0]) for k in range(len(parts) - 1))
    assert sum(len(i) for i, _ in pairs(groups, np.empty(0, dtype=int))) == 0


def test_each_is_taken_once_and_the_first_comes_first() -> None:
    i, j = RNG.integers(0, 30, 40), RNG.integers(0, 30, 40)
    got, used_i, used_j = taken(i, j), set(), set()
    for place, (a, b) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        free = a not in used_i and b not in used_j
        assert got[place] == free
        if free:
            used_i.add(a)
            used_j.add(b)
    assert 0 < got.sum() < 40
