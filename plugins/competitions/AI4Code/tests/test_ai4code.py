"""AI4Code: swaps that are counted."""

from __future__ import annotations

import numpy as np
from mle_comp_ai4code import inversions


def test_inversions() -> None:
    rng = np.random.default_rng(0)
    for lengths in ([0], [1, 1], [3, 0, 5], rng.integers(0, 70, 50)):
        lists = [rng.permutation(length) for length in lengths]
        swaps = sum(int((ranks[i] > ranks[i:]).sum()) for ranks in lists for i in range(len(ranks)))
        assert inversions(np.array(lengths), np.concatenate(lists).astype(np.int64)) == swaps
    repeated = [2, 2, 0, 1, 1, 0]
    assert inversions(np.array([6]), np.array(repeated)) == 4 + 4 + 1 + 1
