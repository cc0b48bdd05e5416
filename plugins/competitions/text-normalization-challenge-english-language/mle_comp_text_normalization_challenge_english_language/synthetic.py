"""Sentences for the synthetic data."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_text_normalization_challenge_english_language import SAMPLE, TEST, TRAIN
from mlecore.hookspecs import hookimpl
from mlecore.prepare import ZipWriter, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
ODD = [
    ("VERBATIM", "&", "and"),
    ("VERBATIM", "", "nothing"),
    ("PLAIN", "hush", ""),
    *[("PLAIN", word, word) for word in ("NA", "null", "None", "nan", "NAN", "True", "1999", "0.10", " the", "Ærø")],
    ("LETTERS", "N/A", "n a"),
    ("DIGIT", "007", "o o seven"),
    ("DECIMAL", "1.0", "one point zero"),
    ("ELECTRONIC", "a,b", "a comma b"),
    ("PLAIN", 'say "x"', 'say "x"'),
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Some 20,000 tokens times ``size``: 100 gives two million, 496 the real number."""
    from numpy.random import RandomState

    with ZipWriter(raw / f"{TRAIN}.zip") as archive, archive.open(TRAIN) as file:
        rows = _sentences(RandomState(seed), max(150, round(1667 * size)))
        write_csv(rows, file, quoting=csv.QUOTE_NONNUMERIC)
    with ZipWriter(raw / f"{TEST}.zip") as archive:
        archive.add(TEST, b'"sentence_id","token_id","before"\n0,0,"Hello"\n')
    with ZipWriter(raw / f"{SAMPLE}.zip") as archive:
        archive.add(SAMPLE, b'"id","after"\n"0_0","Hello"\n')


def _sentences(rng: RandomState, count: int) -> Iterator[DataFrame]:
    """Sentences of 4 to 20 tokens, in pieces; their numbers have gaps and do not begin at 0."""
    import numpy as np
    import pandas as pd

    tokens = pd.DataFrame([token for _, some in _tokens() for token in some], columns=["class", "before", "after"])
    chances = np.concatenate([np.full(len(some), share / len(some)) for share, some in _tokens()])
    number = 7
    for first in range(0, count, 15_000):
        lengths = rng.randint(4, 21, min(15_000, count - first))
        numbers, ends = number + rng.randint(1, 4, len(lengths)).cumsum(), lengths.cumsum()
        picked = rng.choice(len(tokens), ends[-1], p=chances)
        picked[ends - 1] = 0  # a full stop
        places = np.arange(ends[-1]) - (ends - lengths).repeat(lengths)
        rows = tokens.iloc[picked]
        rows.insert(0, "sentence_id", numbers.repeat(lengths))
        rows.insert(1, "token_id", places)
        yield rows
        number = numbers[-1]


def _tokens() -> list[tuple[float, list[tuple[str, str, str]]]]:
    """Shares of all tokens, each with the tokens it is made up of: class, as written, as spoken."""
    syllables = "ba con der el for ing ka lo men no per ri sta ton ver wil".split()
    words = [a + b for a in syllables for b in syllables]
    return [
        (0.05, [("PUNCT", mark, mark) for mark in ".,;:()'\""]),
        (0.80, [("PLAIN", word, word) for word in ["the", "of", "and", *words]]),
        (0.05, [("CARDINAL", f"{n}", _spoken(n)) for n in range(100)]),
        (0.04, [("DATE", f"{year}", f"{_spoken(year // 100)} {_spoken(year % 100)}") for year in range(1950, 2000)]),
        (0.03, [("MEASURE", f"{n}ft", f"{_spoken(n)} feet") for n in range(2, 60)]),
        (0.03, ODD),
    ]


def _spoken(n: int) -> str:
    """0 to 99 in words."""
    if n < 20:
        return SMALL[n]
    return TENS[n // 10 - 2] + (f" {SMALL[n % 10]}" if n % 10 else "")
