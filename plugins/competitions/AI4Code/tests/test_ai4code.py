"""AI4Code: swaps that are counted."""

from __future__ import annotations

from mle_comp_ai4code import inversions


def test_inversions() -> None:
    assert inversions([]) == 0
    assert inversions([2, 2, 0, 1, 1, 0]) == 4 + 4 + 1 + 1
