"""Synthetic data in the form of the download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_lmsys_chatbot_arena import CHANCES, COLUMNS, SHOWN
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

MODELS = ["alpha-7b", "beta-13b", "gamma-70b", "delta-chat", "epsilon-turbo", "zeta-2"]
PROMPTS = ['What is "love"?', "Write code,\nplease", "Où est la gare ?", "2 + 2 = ?", "日本の首都は"]
GOOD = "certainly detailed example because therefore".split()
POOR = "sorry unable cannot language model".split()


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """900 battles times ``size``; 64 gives as many as there really are."""
    from numpy.random import RandomState

    table = _battles(max(60, round(900 * size)), RandomState(seed))
    write_csv(table, raw / "train.csv")
    write_csv(table.head(3)[SHOWN], raw / "test.csv")
    write_csv(table.head(3)[["id"]].assign(**dict.fromkeys(CHANCES, 1 / 3)), raw / "sample_submission.csv")


def _battles(count: int, rng: RandomState) -> DataFrame:
    """Each answer is good or poor, as its words tell; the better one wins most times."""
    import numpy as np
    import pandas as pd

    rows: list[tuple[object, ...]] = []
    for number, id in enumerate(30_192 + np.cumsum(rng.randint(1, 75_000, count))):
        turns = 1 + rng.randint(3)
        quality = rng.randint(0, 2, 2)
        better = quality[0] - quality[1]
        winner = {1: 0, -1: 1, 0: 2}[int(better)] if rng.rand() < 0.8 else rng.randint(3)
        prompts = [f"{PROMPTS[rng.randint(len(PROMPTS))]} {number}" for _ in range(turns)]
        answers = [_answer(turns, bool(good), rng) for good in quality]
        if number % 25 == 3:
            answers[number % 2][-1] = None
        if number % 100 == 7:
            answers[0][0] = "long and longer, " * 300
        first, second = rng.choice(len(MODELS), 2, replace=False)
        cells = (
            json.dumps(turns, separators=(",", ":"), ensure_ascii=number % 2 == 0) for turns in (prompts, *answers)
        )
        rows.append((id, MODELS[first], MODELS[second], *cells, *(int(winner == k) for k in range(3))))
    return pd.DataFrame(rows, columns=COLUMNS)


def _answer(turns: int, good: bool, rng: RandomState) -> list[str | None]:
    words = GOOD if good else POOR
    return [
        f'I am {words[rng.randint(5)]}, "{words[rng.randint(5)]}"\n {words[rng.randint(5)]} naïve.'
        for _ in range(turns)
    ]
