"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_spooky_author_identification import AUTHORS, SHARES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    table = _sentences(max(40, round(2000 * size)), seed)
    for name, rows in (("train", table), ("test", table.head(5).drop(columns="author"))):
        with ZipWriter(raw / f"{name}.zip") as archive, archive.open(f"{name}.csv") as member:
            write_csv(rows, member, quoting=1)  # every cell quoted, as on Kaggle
    with ZipWriter(raw / "sample_submission.zip") as archive, archive.open("sample_submission.csv") as member:
        write_csv(table[["id"]].head(5).assign(**SHARES), member)


def _sentences(count: int, seed: int) -> DataFrame:
    """Each author has words of his or her own, and shares others; some sentences have quotes, commas, accents."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    own = {
        "EAP": "raven bosom vault Dupin",
        "HPL": "cyclopean fhtagn gambrel eldritch",
        "MWS": "glacier Elizabeth misery feelings",
    }
    shared = ["night", "the", "of", "and", "fear", "door", "upon", "shadow", "silence", "I"]
    starts = ["", 'He said ""no"", and ', "Méséglise, it seemed, ", "At last; ", '"Stay!" '.replace('"', "'")]
    rows = []
    for number in rng.permutation(count):
        author = AUTHORS[rng.choice(3, p=[0.4, 0.29, 0.31])]
        words = [*rng.choice(shared, 6), *rng.choice(own[author].split(), 2)]
        text = (
            starts[rng.randint(len(starts))].replace('""', '"') + " ".join(words[i] for i in rng.permutation(8)) + "."
        )
        rows.append((f"id{number + 10000:05d}", text, author))
    return pd.DataFrame(rows, columns=["id", "text", "author"])
