"""The few competitions whose rate stands for that of all, chosen from the observed runs, and how well they do so.

A subset that was chosen on few setups fits them by chance. So each pair of setups is left out once: a subset is chosen
on all others, and the difference of the pair's rates on it is compared with that on all competitions. Pearson's
correlation is a sum over such pairs, so that the levels of different subsets do not disturb it (leave-pair-out, Airola
et al. 2011, Computational Statistics & Data Analysis 55, 1828-1844).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

LEVEL = 0.95
SIZES = (5, 10, 15, 20, 25, 30, 40, 50)
_LEAST, _LEAST_CHECKED = 3, 5  # setups
_RANDOM = 200  # subsets
_OWN = 3  # variance of each competition on its own, in mean observed ones; about the best in simulations

Array = NDArray[Any]


@frozen(kw_only=True)
class Checked:
    """How well rates on subsets go with those on all competitions, over setups without which they were chosen."""

    correlation: float
    interval: tuple[float, float]  # 95 %, Fisher's (1921)
    tau: float  # Kendall's, of the ranking
    apart: float  # mean absolute difference of the two rates, in points


@frozen(kw_only=True)
class Subset:
    ids: tuple[str, ...]
    fitted: float  # correlation over the setups on which it was chosen
    checked: Checked | None  # None: fewer than five setups
    random: float  # mean correlation of random subsets of this size


@frozen(kw_only=True)
class Subsets:
    """Nested subsets, by forward selection with shrunk covariances."""

    setups: tuple[str, ...]  # keys
    competitions: int  # with results of every setup
    level: float  # of the cross-validated correlation that is asked for
    found: tuple[Subset, ...]
    chosen: Subset | None  # the smallest that reaches the level


def choose(shares: Array, ids: Sequence[str], keys: tuple[str, ...]) -> Subsets | None:
    """From success rates, setups x competitions. None for fewer than three setups."""
    count, of = shares.shape
    if count < _LEAST:
        return None
    sizes = [size for size in SIZES if size < of]
    order = _greedy(shares, max(sizes, default=0))
    checked = _left_out(shares, sizes) if count >= _LEAST_CHECKED else {}
    rng = np.random.default_rng(0)
    found = []
    for size in sizes:
        draws = [rng.choice(of, size, replace=False) for _ in range(_RANDOM)]
        rates = np.stack([shares[:, chosen].mean(axis=1) for chosen in (np.array(order[:size]), *draws)], axis=1)
        fitted, *random = _cosines(rates - rates.mean(axis=0), shares.mean(axis=1) - shares.mean())
        names = tuple(sorted(ids[number] for number in order[:size]))
        found.append(Subset(ids=names, fitted=float(fitted), checked=checked.get(size), random=float(np.mean(random))))
    good = (each for each in found if each.checked and each.checked.correlation >= LEVEL)
    return Subsets(setups=keys, competitions=of, level=LEVEL, found=tuple(found), chosen=next(good, None))


def _greedy(shares: Array, most: int) -> list[int]:
    """Competitions in the order in which each raises the correlation most.

    The covariances of 75 competitions over a dozen setups are full of coincidences. So each competition is taken to
    vary on its own as well: without that, the choice is worse than a random one.
    """
    of = shares.shape[1]
    centred = shares - shares.mean(axis=0)
    covariance = centred.T @ centred
    covariance += _OWN * np.trace(covariance) / of * np.eye(of)
    with_whole, own = covariance.sum(axis=0), np.diag(covariance)
    chosen: list[int] = []
    for _ in range(most if own.any() else 0):
        part, within = covariance[chosen].sum(axis=0), covariance[np.ix_(chosen, chosen)].sum()
        gains = (with_whole[chosen].sum() + with_whole) / np.sqrt(within + 2 * part + own)
        gains[chosen] = -np.inf
        chosen.append(int(np.round(gains / gains.max(), 9).argmax()))
    return chosen or list(range(most))


def _cosines(columns: Array, other: Array) -> Array:
    """Cosine between each column and ``other``: their correlation if both have mean 0. 0 where one is all 0."""
    sizes = np.sqrt((columns * columns).sum(axis=0) * (other * other).sum())
    found: Array = np.divide(other @ columns, sizes, out=np.zeros(columns.shape[1]), where=sizes > 1e-9)
    return found


def _left_out(shares: Array, sizes: Sequence[int]) -> dict[int, Checked]:
    """By the size of the subsets."""
    pairs = np.array(list(itertools.combinations(range(len(shares)), 2)))
    orders = [_greedy(np.delete(shares, pair, axis=0), max(sizes, default=0)) for pair in pairs]
    whole = shares.mean(axis=1)[pairs]
    found = {}
    for size in sizes:
        chosen = [shares[np.ix_(pair, order[:size])] for pair, order in zip(pairs, orders, strict=True)]
        rates = np.mean(chosen, axis=2)
        a, b = (np.round(each[:, :1] - each[:, 1:], 9) for each in (rates, whole))
        correlation, tau = (float(_cosines(x, y[:, 0])[0]) for x, y in ((a, b), (np.sign(a), np.sign(b))))
        centre, half = math.atanh(max(-0.9999, min(correlation, 0.9999))), 1.96 / math.sqrt(len(shares) - 3)
        found[size] = Checked(
            correlation=correlation,
            interval=(math.tanh(centre - half), math.tanh(centre + half)),
            tau=tau,
            apart=100 * float(np.abs(rates - whole).mean()),
        )
    return found
