"""Film reviews, edition v2: sentences are on one side of the split, and phrases are the text that they are."""

from __future__ import annotations

import zipfile

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.4)


def table(trial: Trial, part: str) -> pd.DataFrame:
    with zipfile.ZipFile(trial.public / f"{part}.tsv.zip") as archive, archive.open(f"{part}.tsv") as file:
        return pd.read_csv(file, sep="\t", na_filter=False)


def sentences_of_both(trial: Trial) -> set[int]:
    return set(table(trial, "train")["SentenceId"]) & set(table(trial, "test")["SentenceId"])


def test_no_sentence_is_in_both_parts(trial: Trial, trial_v1: Trial) -> None:
    assert sentences_of_both(trial_v1)
    assert not sentences_of_both(trial)
    test = table(trial, "test")
    assert 0.27 < len(test) / (len(test) + len(table(trial, "train"))) <= 0.31


def test_no_phrase_is_lost(trial: Trial, trial_v1: Trial) -> None:
    def phrases(of: Trial) -> set[str]:
        return {*table(of, "train")["Phrase"], *table(of, "test")["Phrase"]}

    assert "" in phrases(trial_v1)
    assert "" not in phrases(trial)
    assert {"None", "null", "NA", "n/a", " ", 'say "hi" now'} <= phrases(trial)
