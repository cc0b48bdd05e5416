"""Rates with intervals and ranks with their uncertainty, by a bootstrap over competitions.

Runs of one competition resemble each other, and all entries of a table ran the same competitions. So each draw takes
competitions with replacement, the same ones for all entries (a paired cluster bootstrap: Davison and Hinkley 1997,
Bootstrap Methods and their Application, section 3.8). Draws are seeded: the same entries give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from mle_ext_report.statistics import Counts, Interval, rate_interval

DRAWS = 2000
SEED = 20260426
_TAIL = 0.025  # of a 95 % interval
_SAME = 1e-12  # two rates that differ by rounding only


@frozen(kw_only=True)
class Ranked:
    """One entry in its table. Rates in percent; ``ranks`` is the 95 % interval of its rank."""

    rate: float
    interval: Interval | None  # None: fewer than two competitions
    rank: int
    ranks: tuple[int, int]
    like: tuple[int, ...]  # indexes of the entries that it cannot be told apart from at the 5 % level


def rank_entries(entries: Sequence[Counts]) -> list[Ranked]:
    """Rates and ranks of entries that ran the same competitions, in the order given."""
    names = sorted(entries[0]) if entries else []
    shares = np.array([[wins / runs for wins, runs in (entry[name] for name in names)] for entry in entries])
    if not len(entries):
        return []
    rates = shares.mean(axis=1)
    drawn = _draws(shares)
    low, high = np.quantile(drawn, [_TAIL, 1 - _TAIL], axis=0)
    places = np.stack([_places(draw) for draw in drawn])
    first, last = np.quantile(places, [_TAIL, 1 - _TAIL], axis=0, method="nearest")
    own = _places(rates)
    found = []
    for index, counts in enumerate(entries):
        better = (drawn > drawn[:, [index]] + _SAME).mean(axis=0)
        worse = (drawn < drawn[:, [index]] - _SAME).mean(axis=0)
        like = np.flatnonzero(np.maximum(better, worse) < 1 - _TAIL)
        found.append(
            Ranked(
                rate=100 * float(rates[index]),
                interval=_interval(counts, shares[index], float(low[index]), float(high[index])),
                rank=int(own[index]),
                ranks=(min(int(first[index]), int(own[index])), max(int(last[index]), int(own[index]))),
                like=tuple(int(other) for other in like if other != index),
            )
        )
    return found


def _draws(shares: np.ndarray) -> np.ndarray:
    """Rate of each entry in each draw: draws x entries."""
    count = shares.shape[1]
    weights = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=DRAWS)
    drawn: np.ndarray = weights @ shares.T / count
    return drawn


def _places(rates: np.ndarray) -> np.ndarray:
    """The rank of each entry: 1 and the number of entries that are better; equal ones share the best."""
    falling = np.sort(-rates)
    places: np.ndarray = 1 + np.searchsorted(falling, -rates - _SAME, side="left")
    return places


def _interval(counts: Counts, shares: np.ndarray, low: float, high: float) -> Interval | None:
    """The bootstrap's. If all competitions have the same share, draws do not vary; then Wilson's, as in reports."""
    if len(shares) < 2:
        return None
    if np.ptp(shares) < _SAME:
        return rate_interval(counts)
    return 100 * low, 100 * high
