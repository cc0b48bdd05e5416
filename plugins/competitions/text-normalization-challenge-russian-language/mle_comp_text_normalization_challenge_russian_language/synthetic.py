"""Sentences for the synthetic data."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_text_normalization_challenge_russian_language import SAMPLE, TEST, TRAIN
from mlecore.hookspecs import hookimpl
from mlecore.prepare import ZipWriter, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

SMALL = (
    "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать "
    "пятнадцать шестнадцать семнадцать восемнадцать девятнадцать"
).split()
TENS = "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто".split()
DAYS = "первого второго третьего четвёртого пятого шестого седьмого восьмого девятого десятого".split()
MONTHS = "января февраля марта апреля мая июня июля августа сентября октября ноября декабря".split()
LETTERS = dict(zip("abdeiklmnoprstuv", "абдеиклмнопрстув", strict=True))
ODD = [
    ("VERBATIM", "&", "и"),
    ("VERBATIM", "", "ничего"),
    ("PLAIN", "тише", ""),
    *[("PLAIN", word, word) for word in ("NA", "NULL", "None", "nan", "NAN", "True", "1999", "0.10", " да", "0_0")],
    ("LETTERS", "N/A", "н а"),
    ("DIGIT", "007", "ноль ноль семь"),
    ("ELECTRONIC", "a,b", "а запятая б"),
    ("PLAIN", 'слово "да"', 'слово "да"'),
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Some 20,000 tokens times ``size``: 100 gives two million, 529 the real number."""
    from numpy.random import RandomState

    with ZipWriter(raw / f"{TRAIN}.zip") as archive, archive.open(TRAIN) as file:
        rows = _sentences(RandomState(seed), max(150, round(1667 * size)))
        write_csv(rows, file, quoting=csv.QUOTE_NONNUMERIC)
    with ZipWriter(raw / f"{TEST}.zip") as archive:
        archive.add(TEST, '"sentence_id","token_id","before"\n0,0,"Да"\n'.encode())
    with ZipWriter(raw / f"{SAMPLE}.zip") as archive:
        archive.add(SAMPLE, '"id","after"\n"0_0","Да"\n'.encode())


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
    syllables = "ба вер го дом ель ка ла мир но пол ре сто ти у фа ча".split()
    words = [a + b for a in syllables for b in syllables]
    names = [a + b for a in ("Al", "Ben", "Dor", "Mar", "Vik") for b in ("an", "eus", "ila", "ton")]
    days = [(f"{day} {month}", f"{spoken} {month}") for day, spoken in enumerate(DAYS, 1) for month in MONTHS]
    return [
        (0.08, [("PUNCT", mark, "sil") for mark in ".,;:()«»"]),
        (0.01, [("PUNCT", '"', '"')]),
        (0.73, [("PLAIN", word, word) for word in ["и", "в", "не", *words]]),
        (0.03, [("PLAIN", name, " ".join(f"{LETTERS[c]}_trans" for c in name.lower())) for name in names]),
        (0.06, [("CARDINAL", f"{n}", _spoken(n)) for n in range(100)]),
        (0.05, [("DATE", written, spoken) for written, spoken in days]),
        (0.04, ODD),
    ]


def _spoken(n: int) -> str:
    """0 to 99 in words."""
    if n < 20:
        return SMALL[n]
    return TENS[n // 10 - 2] + (f" {SMALL[n % 10]}" if n % 10 else "")
