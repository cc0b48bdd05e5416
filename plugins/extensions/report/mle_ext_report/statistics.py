"""What the benchmark's mean ± standard error does not say: intervals over competitions, whether a difference is real,
and the chance that the best of several runs succeeds.

Runs of one competition resemble each other, so each function takes its values by competition. All of them are exact or
draw from a fixed seed, and always give the same numbers.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction

from attrs import frozen

from mle_ext_report.sign_flips import ALPHA, sign_flips

LEVEL = 95  # percent
_Z = statistics.NormalDist().inv_cdf(0.5 + LEVEL / 200)

Counts = Mapping[str, tuple[int, int]]
"""Competition -> (runs that succeeded, runs)."""

Interval = tuple[float, float]


@frozen(kw_only=True)
class PairedDifference:
    """The mean difference of two rates over competitions, in percentage points."""

    difference: float
    interval: Interval | None  # None: fewer than two competitions
    p: float  # two-sided
    smallest_p: float  # that could have resulted, given on how many competitions the two differ


def wilson(share: float, n: float) -> Interval:
    """The 95 % interval of a share of ``n`` independent trials (Wilson 1927, JASA 22, 209-212); from 0 to 1."""
    z2 = _Z * _Z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def mean_interval(values: Sequence[float], runs: int) -> Interval | None:
    """The 95 % interval of the mean of one value per competition, each from 0 to 1; None for fewer than two of them.

    Wilson's interval with the effective number of trials m(1 - m) / (s²/n), where m is the mean of the n values and s²
    their sample variance (Korn and Graubard 1998, Survey Methodology 24, 193-201). It lies between n, as if all runs of
    a competition ended alike, and ``runs``, as if all were independent; it is n if all values are the same.
    """
    n = len(values)
    if n < 2:
        return None
    mean = statistics.fmean(values)
    spread = statistics.variance(values, mean) / n
    return wilson(mean, min(max(mean * (1 - mean) / spread, n), runs) if spread else n)


def rate_interval(counts: Counts) -> Interval | None:
    """The same for the mean share of successful runs, in percent."""
    found = mean_interval([wins / runs for wins, runs in counts.values()], sum(runs for _, runs in counts.values()))
    return None if found is None else (100 * found[0], 100 * found[1])


def paired_difference(a: Counts, b: Counts) -> PairedDifference:
    """The mean difference a - b over competitions, which must be the same in both, with its test.

    The interval inverts the test (see ``sign_flips``). That assumes differences that are spread evenly around their
    mean, which fails where nearly all are 0. So it is widened to Newcombe's interval for paired proportions (1998,
    Statistics in Medicine 17, 2635-2650, method 10) where that is wider, but not across 0 if p < 0.05: it excludes 0
    exactly if p < 0.05.
    """
    differences = [Fraction(*a[competition]) - Fraction(*b[competition]) for competition in a]
    found = sign_flips(differences)
    low, high = max(found.low, -1.0), min(found.high, 1.0)
    newcombe = _newcombe(a, b)
    if newcombe is not None:
        certain = found.p < ALPHA
        low = low if certain and newcombe[0] <= 0 < low else min(low, newcombe[0])
        high = high if certain and newcombe[1] >= 0 > high else max(high, newcombe[1])
    return PairedDifference(
        difference=100 * float(sum(differences) / len(differences)),
        interval=None if newcombe is None else (100 * low, 100 * high),
        p=found.p,
        smallest_p=found.smallest_p,
    )


def _newcombe(a: Counts, b: Counts) -> Interval | None:
    """The interval of the difference of two paired shares; their correlation is 0 if one does not vary."""
    of_a, of_b = rate_interval(a), rate_interval(b)
    if of_a is None or of_b is None:
        return None
    shares_a = [wins / runs for wins, runs in a.values()]
    shares_b = [b[competition][0] / b[competition][1] for competition in a]
    mean_a, mean_b = statistics.fmean(shares_a), statistics.fmean(shares_b)
    (low_a, high_a), (low_b, high_b) = ((low / 100, high / 100) for low, high in (of_a, of_b))
    varies = len(set(shares_a)) > 1 and len(set(shares_b)) > 1
    alike = statistics.correlation(shares_a, shares_b) if varies else 0.0

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one * one - 2 * alike * one * other + other * other))

    difference = mean_a - mean_b
    return (
        max(-1.0, difference - reach(mean_a - low_a, high_b - mean_b)),
        min(1.0, difference + reach(high_a - mean_a, mean_b - low_b)),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for the number of tests, in the same order (Holm 1979, Scand. J. Statistics 6)."""
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected


def chance_to_win(a: Sequence[float], b: Sequence[float]) -> float:
    """The probability that a run of ``a`` beats one of ``b`` on the same competition; a tie counts as half a win.

    The Mann-Whitney statistic over all pairs of runs (Vargha and Delaney 2000, J. Educ. Behav. Statistics 25, their A).
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
