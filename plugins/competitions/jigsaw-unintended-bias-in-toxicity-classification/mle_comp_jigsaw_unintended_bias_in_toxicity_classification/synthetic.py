"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_jigsaw_unintended_bias_in_toxicity_classification import IDENTITIES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

SUBTYPES = ["severe_toxicity", "obscene", "identity_attack", "insult", "threat", "sexual_explicit"]
OTHERS = (
    "transgender other_gender heterosexual bisexual other_sexual_orientation hindu buddhist atheist other_religion "
    "asian latino other_race_or_ethnicity physical_disability intellectual_or_learning_disability other_disability"
).split()
COUNTS = ["funny", "wow", "sad", "likes", "disagree", "identity_annotator_count", "toxicity_annotator_count"]
PLAIN = "the city council should vote on roads and schools this year because people pay more tax café".split()
STARTS = ["", "Well, ", 'He said "never" and ', "First.\nThen ", "  ", "naïve or not, "]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """2,000 training comments and as many test comments, times ``size``; 900 gives as many as there really are."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(600, round(2000 * size))
    train = _comments(count, 59848, rng)
    metadata = ["created_date", "publication_id", "parent_id", "article_id", "rating", *COUNTS]
    labels = [*SUBTYPES, *IDENTITIES, *OTHERS]
    train = train.rename(columns={"toxicity": "target"})
    write_csv(train[["id", "target", "comment_text", *labels, *metadata]], raw / "train.csv")
    test = _comments(count, 7097320, rng)[["id", "comment_text", *metadata, "toxicity", *labels]]
    write_csv(test, raw / "test_private_expanded.csv")
    write_csv(test[["id", "comment_text"]], raw / "test.csv")
    write_csv(test[["id"]].assign(prediction=0.0), raw / "sample_submission.csv")


def _comments(count: int, first: int, rng: RandomState) -> DataFrame:
    """A rude word tells most toxic ones; half mention an identity, of which a part is labelled so."""
    import numpy as np
    import pandas as pd

    raters = rng.choice([4, 6, 10], count)
    toxic = rng.rand(count) < 0.4
    fraction = np.where(toxic, rng.randint(2, 5, count) / 4, rng.randint(0, 3, count) / 6)
    table = pd.DataFrame({"id": first + np.cumsum(rng.randint(1, 3, count)), "toxicity": fraction})
    mentioned = rng.randint(0, 2 * len(IDENTITIES), count)
    rude = rng.rand(count) < np.where(toxic, 0.93, 0.04)
    words = rng.randint(0, len(PLAIN), (count, 8))
    starts = rng.randint(0, len(STARTS), count)
    table["comment_text"] = [
        "NA"
        if row % 400 == 200
        else STARTS[starts[row]]
        + " ".join(PLAIN[word] for word in words[row])
        + (" idiots" if rude[row] else "")
        + (f", says a {IDENTITIES[mentioned[row]]} voter" if mentioned[row] < len(IDENTITIES) else ".")
        for row in range(count)
    ]
    for name in SUBTYPES:
        table[name] = np.where(toxic, rng.randint(0, raters + 1) / raters, 0.0)
    labelled = (mentioned < len(IDENTITIES)) | (rng.rand(count) < 0.3)
    for number, name in enumerate([*IDENTITIES, *OTHERS]):
        low = rng.choice([0.0, 0.0, 0.0, 1 / 6, 0.25], count)
        table[name] = np.where(mentioned == number, rng.choice([0.5, 5 / 6, 1.0], count), low)
        table.loc[~labelled, name] = np.nan
    seconds = 1_445_000_000 + rng.randint(0, 60_000_000, count)
    table["created_date"] = pd.to_datetime(seconds, unit="s").strftime("%Y-%m-%d %H:%M:%S.%f+00")
    table["publication_id"] = rng.randint(2, 103, count)
    table["parent_id"] = np.where(rng.rand(count) < 0.4, np.nan, table["id"] - 1)
    table["article_id"] = rng.randint(2006, 400_000, count)
    table["rating"] = np.where(toxic, "rejected", "approved")
    for name in COUNTS:
        table[name] = rng.randint(0, 10, count)
    table["toxicity_annotator_count"] = raters
    return table
