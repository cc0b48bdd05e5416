"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_movie_review_sentiment_analysis_kernels_only import COLUMNS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, write_csv

WORDS = [
    ["dreadful", "unbearable", "awful", "a disaster"],
    ["dull", "tired", "too long", "flat"],
    ["the film", "its story", "an hour", "two brothers"],
    ["charming", "fine", "clever", "well made"],
    ["brilliant", "wonderful", "a masterpiece", "unforgettable"],
]
FILLERS = ["this one is", "a comedy that is", "they say it is", "so much of it is", "it's"]
ODD = ["None", "null", "NA", "n/a", "nan", " ", 'say "hi" now', '"quoted"', "it's, well, art"]  # phrases as they are


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """600 phrases times ``size`` in sentences of four; one word of each phrase tells how positive it is."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(40, round(600 * size))
    rows = []
    for number in range(1, count + 6):
        label = rng.randint(5)
        if number % 12 == 0:
            phrase = ODD[number // 12 % len(ODD)]
        else:
            phrase = f"{FILLERS[rng.randint(5)]} {WORDS[label][rng.randint(4)]}"
            if number % 7 == 0:
                phrase += ' , the " hero " says , and how'
        rows.append((number, 1 + number // 4, phrase, label))
    table = pd.DataFrame(rows, columns=COLUMNS)
    parts = {"train.tsv": table.head(count), "test.tsv": table.tail(5).drop(columns="Sentiment")}
    for name, part in parts.items():
        with ZipWriter(raw / f"{name}.zip") as archive:
            archive.add(name, part.to_csv(index=False, sep="\t", lineterminator="\n").encode())
    write_csv(table.tail(5)[["PhraseId"]].assign(Sentiment=2), raw / "sampleSubmission.csv")
