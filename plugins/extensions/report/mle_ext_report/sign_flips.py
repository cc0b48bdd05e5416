"""The paired permutation test over competitions, and the interval that belongs to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALPHA = 0.05
DRAWS = 2**16 - 1
_LARGEST = 2**19  # cells of the table of all subsets; beyond, subsets are drawn


@frozen(kw_only=True)
class SignFlips:
    """The test's result, in the unit of the differences given."""

    p: float  # two-sided
    smallest_p: float  # that differences of these sizes could give: 2 / 2^m, where m of them are not 0
    low: float  # -inf where so few differences exclude nothing on this side
    high: float


def sign_flips(differences: Sequence[Fraction]) -> SignFlips:
    """Is the mean of these paired differences, one per competition, other than 0? And which means are compatible?

    If two agents are alike, each difference is as likely to have the opposite sign (Fisher 1935, The Design of
    Experiments, section 21). p is the share of the 2^n choices of signs whose sum is at least as far from 0.

    The interval holds every value that the same test does not reject at 5 % when it is subtracted from all differences.
    Its ends are order statistics of the means of all subsets of the differences (Hartigan 1969, Using Subsample Values
    as Typical Values, JASA 64), so it excludes 0 exactly if p < 0.05. All subsets are counted; where that takes too
    large a table, 65,535 are drawn from a fixed seed, and the empty one is added (Phipson and Smyth 2010).
    """
    import numpy as np

    sizes, sums, chances = _subsets(differences)
    none = max(1.0 - float(chances.sum()), 2.0 ** -len(differences))  # the chance of the empty subset
    total = sum(differences)
    beyond = chances[sums <= 0] if total > 0 else chances[sums >= 0]
    means = sums / sizes
    order = np.argsort(means, kind="stable")
    means, chances = means[order], chances[order]
    return SignFlips(
        p=1.0 if total == 0 else min(1.0, 2 * (none + float(beyond.sum()))),
        smallest_p=min(1.0, 2.0 ** (1 - sum(map(bool, differences)))),
        low=_first(means, chances, none),
        high=-_first(-means[::-1], chances[::-1], none),
    )


def p_values(differences: NDArray[Any]) -> NDArray[Any]:
    """The p of ``sign_flips`` for each row of whole numbers, to 1e-9: for thousands of simulated reports at once.

    The sum of differences with random signs has the characteristic function Π cos(dθ). Its inverse Fourier transform
    is the chance of each sum.
    """
    import numpy as np

    sizes = np.abs(differences)
    most, length = int(sizes.max(initial=0)), 2 * int(sizes.sum(axis=1).max(initial=0)) + 1
    found = np.stack([(sizes == size).sum(axis=1) for size in range(most + 1)], axis=1)
    angles = 2 * np.pi / length * np.arange(length // 2 + 1)
    cosines = np.cos(np.outer(np.arange(most + 1), angles))  # never 0, as the length is odd
    signs = 1 - 2 * ((found @ (cosines < 0)) % 2)
    chances = np.fft.irfft(signs * np.exp(found @ np.log(np.abs(cosines))), n=length)
    beyond = np.cumsum(chances[:, length // 2 :: -1], axis=1)[:, ::-1]  # of a sum at least as large
    total = np.abs(differences.sum(axis=1))
    return np.where(total == 0, 1.0, 2 * beyond[np.arange(len(total)), total])


def _first(means: NDArray[Any], chances: NDArray[Any], none: float) -> float:
    """The first mean, in ascending order, at which the cumulative chance (with the empty subset) reaches 2.5 %."""
    import numpy as np

    if none >= ALPHA / 2:
        return -math.inf
    return float(means[np.searchsorted(none + np.cumsum(chances), ALPHA / 2)])


def _subsets(differences: Sequence[Fraction]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Size and sum of non-empty subsets, and the chance of each such pair if all subsets are equally likely."""
    import numpy as np

    unit = math.lcm(*(difference.denominator for difference in differences))
    steps = [int(difference * unit) for difference in differences]
    least = sum(step for step in steps if step < 0)
    width = sum(map(abs, steps)) + 1
    if (len(steps) + 1) * width > _LARGEST:
        return _drawn(differences)
    table = np.zeros((len(steps) + 1, width))
    table[0, -least] = 1.0
    for step in steps:
        table /= 2
        added = np.zeros_like(table)
        if step >= 0:
            added[1:, step:] = table[:-1, : width - step]
        else:
            added[1:, :step] = table[:-1, -step:]
        table += added
    sizes, sums = np.nonzero(table[1:])
    return sizes + 1, (sums + least) / unit, table[sizes + 1, sums]


def _drawn(differences: Sequence[Fraction]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    import numpy as np

    rng = np.random.default_rng(0)
    sizes, sums = np.zeros(DRAWS, dtype=int), np.zeros(DRAWS)
    for difference in differences:
        taken = rng.integers(2, size=DRAWS)
        sizes += taken
        sums += float(difference) * taken
    kept = sizes > 0
    return sizes[kept], np.round(sums[kept], 9), np.full(int(kept.sum()), 1 / (DRAWS + 1))
