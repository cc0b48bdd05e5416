"""What the benchmark's mean ± standard error does not say: intervals, whether a difference is real, pass@k.

Every function is given outcomes by competition, because the competitions differ far more than the seeds do, and always
gives the same numbers: random draws begin at a fixed seed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

DRAWS = 2000
LEVEL = 95  # percent
_GRID = 5040  # differences of shares are whole multiples of 1/5040 for up to 10 seeds each, and for 12, 14, 15, 16

Counts = Mapping[str, tuple[int, int]]
"""Competition -> (runs that succeeded, runs)."""

Interval = tuple[float, float]


def bootstrap_rate(counts: Counts) -> Interval | None:
    """The 95 % interval, in percent, of the mean share over competitions; None for fewer than two of them.

    Two levels: competitions are drawn with replacement, then each one's runs. Drawing n runs of which k succeeded is a
    binomial draw of n at k/n.
    """
    import numpy as np

    if len(counts) < 2:
        return None
    wins, runs = np.array(list(counts.values()), dtype=float).T
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(wins), size=(DRAWS, len(wins)))
    shares = rng.binomial(runs[drawn].astype(int), (wins / runs)[drawn]) / runs[drawn]
    return _interval(100 * shares.mean(axis=1))


def bootstrap_difference(a: Counts, b: Counts) -> Interval | None:
    """The same for the mean difference a - b in percentage points, over the competitions of both."""
    import numpy as np

    both = [competition for competition in a if competition in b]
    if len(both) < 2:
        return None
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(both), size=(DRAWS, len(both)))
    means = []
    for counts in (a, b):
        wins, runs = np.array([counts[competition] for competition in both], dtype=float).T
        shares = rng.binomial(runs[drawn].astype(int), (wins / runs)[drawn]) / runs[drawn]
        means.append(100 * shares.mean(axis=1))
    return _interval(means[0] - means[1])


def bootstrap_mean(values: Sequence[float]) -> Interval | None:
    """The 95 % interval of the mean of one value a competition; None for fewer than two."""
    import numpy as np

    if len(values) < 2:
        return None
    rng = np.random.default_rng(0)
    return _interval(np.array(values)[rng.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1))


def _interval(draws: object) -> Interval:
    import numpy as np

    low, high = np.percentile(draws, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])  # type: ignore[call-overload]
    return float(low), float(high)


def permutation_test(differences: Sequence[float]) -> float:
    """The two-sided p-value of a paired permutation test: is the mean of these differences other than 0?

    If the two agents were alike, each competition's difference would as well have had the other sign. Exact: the
    distribution over all 2^n signs is built competition by competition, on a grid of 1/5040.
    """
    import numpy as np

    steps = [round(abs(difference) * _GRID) for difference in differences]
    observed = abs(sum(round(difference * _GRID) for difference in differences))
    reach = sum(steps)
    chances = np.zeros(2 * reach + 1)  # of each sum from -reach to reach
    chances[reach] = 1.0
    for step in steps:
        if step:
            moved = np.zeros_like(chances)
            moved[step:] += chances[:-step] / 2
            moved[:-step] += chances[step:] / 2
            chances = moved
    sums = np.arange(-reach, reach + 1)
    return min(1.0, float(chances[np.abs(sums) >= observed].sum()))


def chance_to_win(a: Sequence[float], b: Sequence[float]) -> float:
    """The probability that a run of ``a`` beats one of ``b`` on the same competition; a tie counts as half a win.

    The Mann-Whitney statistic over all pairs of runs (Vargha and Delaney's A).
    """
    wins = sum(1.0 if x > y else 0.5 if x == y else 0.0 for x in a for y in b)
    return wins / (len(a) * len(b))


def pass_at_k(runs: int, successes: int, k: int) -> float:
    """The probability that at least one of ``k`` runs succeeds: unbiased, 1 - C(n-c, k) / C(n, k).

    Chen et al. 2021 (arXiv 2107.03374), section 2.1. Needs ``k`` <= ``runs``. Here as a product, since the binomials of
    thousands of runs have thousands of digits.
    """
    fewer, more = sorted((successes, k))
    none = 1.0
    for drawn in range(fewer):
        none *= (runs - more - drawn) / (runs - drawn)
        if none < sys.float_info.epsilon / 8:  # nothing of it is left in the difference
            break
    return 1.0 - none
