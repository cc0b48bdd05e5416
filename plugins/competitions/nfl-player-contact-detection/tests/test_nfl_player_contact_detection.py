"""NFL contacts: the correlation where predictions have another class, or one only."""

from __future__ import annotations

import math

import numpy as np
from mle_comp_nfl_player_contact_detection import matthews_correlation


def test_correlation() -> None:
    truth = np.array([0, 0, 1, 1])
    assert math.isclose(matthews_correlation(truth, np.array([0, 2, 1, 1])), 6 / math.sqrt(10 * 8))
    assert matthews_correlation(truth, np.array([1, 1, 1, 1])) == 0
