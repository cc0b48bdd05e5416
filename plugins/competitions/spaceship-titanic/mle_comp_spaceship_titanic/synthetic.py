"""Synthetic data in the form of the download."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

AMENITIES = ["RoomService", "FoodCourt", "ShoppingMall", "Spa", "VRDeck"]
NAMES = ["Maham", "Juanna", "Altark", "Solam", "Willy", "Zoë", "Candie", "Brant", "Erraiam", "Reney", "O'Neill", "Gaug"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    from numpy.random import RandomState

    rng = RandomState(seed)
    groups = max(20, round(400 * size))
    write_csv(_passengers(rng, 1, groups), raw / "train.csv")
    unlabelled = next(_passengers(rng, groups + 1, groups + 10)).drop(columns="Transported")
    write_csv(unlabelled, raw / "test.csv")
    write_csv(unlabelled[["PassengerId"]].assign(Transported=False), raw / "sample_submission.csv")


def _passengers(rng: RandomState, first: int, last: int) -> Iterator[DataFrame]:
    """Travel groups ``first`` to ``last``, of one to three, in pieces. Who sleeps or spends little is often gone."""
    import numpy as np
    import pandas as pd

    def gaps(values: Any) -> Any:
        return np.where(rng.rand(n) < 0.03, np.array(None), np.asarray(values, dtype=object))

    for start in range(first, last + 1, 20_000):
        sizes = rng.randint(1, 4, min(20_000, last + 1 - start))
        group = np.repeat(np.arange(start, start + len(sizes)), sizes).tolist()
        number = [place for size in sizes for place in range(1, size + 1)]
        n = len(group)
        deck, side = rng.choice([*"ABCDEFGT"], n), rng.choice(["P", "S"], n)
        sleeps, spends = rng.rand(n) < 0.35, rng.rand(n, 5) < 0.5
        bills = np.where(sleeps[:, None], 0.0, spends * np.round(rng.exponential(400, (n, 5))))
        chance = 0.05 + 0.45 * (bills.sum(axis=1) < 400) + 0.4 * sleeps + 0.1 * (side == "S")
        yield pd.DataFrame(
            {
                "PassengerId": [f"{g:04d}_{k:02d}" for g, k in zip(group, number, strict=True)],
                "HomePlanet": gaps(rng.choice(["Europa", "Earth", "Mars"], n)),
                "CryoSleep": gaps(sleeps),
                "Cabin": gaps([f"{d}/{g}/{s}" for d, g, s in zip(deck, group, side, strict=True)]),
                "Destination": gaps(rng.choice(["TRAPPIST-1e", "55 Cancri e", "PSO J318.5-22"], n)),
                "Age": gaps(np.round(rng.uniform(0, 80, n))),
                "VIP": gaps(rng.rand(n) < 0.03),
                **{amenity: gaps(bill) for amenity, bill in zip(AMENITIES, bills.T, strict=True)},
                "Name": gaps([" ".join(names) for names in rng.choice(NAMES, (n, 2))]),
                "Transported": rng.rand(n) < chance,
            }
        )
