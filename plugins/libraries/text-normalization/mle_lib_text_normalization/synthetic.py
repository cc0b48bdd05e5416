"""A download made of a language's tokens."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mle_lib_text_normalization.names import Names
from mlecore_toolkit import ZipWriter, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

Tokens: TypeAlias = list[tuple[float, list[tuple[str, str, str]]]]
"""Shares of all tokens, each with the tokens it is made up of: class, as written, as spoken."""


def write_raw(raw: Path, language: str, tokens: Tokens, seed: int, size: float) -> None:
    """``make_raw`` of a language, whose first token ends a sentence: about 20,000 tokens times ``size``."""
    from numpy.random import RandomState

    names = Names(language)
    with ZipWriter(raw / f"{names.train}.zip") as archive, archive.open(names.train) as file:
        rows = _sentences(RandomState(seed), max(150, round(1667 * size)), tokens)
        write_csv(rows, file, quoting=csv.QUOTE_NONNUMERIC)
    with ZipWriter(raw / f"{names.test}.zip") as archive:
        archive.add(names.test, b'"sentence_id","token_id","before"\n0,0,"."\n')
    with ZipWriter(raw / f"{names.sample}.zip") as archive:
        archive.add(names.sample, b'"id","after"\n"0_0","."\n')


def _sentences(rng: RandomState, count: int, shares: Tokens) -> Iterator[DataFrame]:
    """Sentences of 4 to 20 tokens, in pieces; their numbers have gaps and do not begin at 0."""
    import numpy as np
    import pandas as pd

    tokens = pd.DataFrame([token for _, some in shares for token in some], columns=["class", "before", "after"])
    chances = np.concatenate([np.full(len(some), share / len(some)) for share, some in shares])
    number = 7
    for first in range(0, count, 15_000):
        lengths = rng.randint(4, 21, min(15_000, count - first))
        twice = np.arange(3, len(lengths), 10)  # sentences that repeat the one before them
        lengths[twice] = lengths[twice - 1]
        numbers, ends = number + rng.randint(1, 4, len(lengths)).cumsum(), lengths.cumsum()
        picked = rng.choice(len(tokens), ends[-1], p=chances)
        picked[ends - 1] = 0  # a full stop
        for end, length in zip(ends[twice].tolist(), lengths[twice].tolist(), strict=True):
            picked[end - length : end] = picked[end - 2 * length : end - length]
        places = np.arange(ends[-1]) - (ends - lengths).repeat(lengths)
        rows = tokens.iloc[picked]
        rows.insert(0, "sentence_id", numbers.repeat(lengths))
        rows.insert(1, "token_id", places)
        yield rows
        number = numbers[-1]
