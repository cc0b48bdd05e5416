"""Freesound 2019, edition v2: new names for test clips, and a number in every cell."""

from __future__ import annotations

import math
from hashlib import sha256

import pandas as pd
import pytest
from mle_comp_freesound_audio_tagging_2019 import CLASSES, META, META_TABLE

from mlecore_testing import Trial
from mlecore_toolkit import open_zip, read_csv

pytestmark = pytest.mark.trial(edition="v2")


def clips(trial: Trial) -> dict[str, str]:
    """The checksum of each test clip, by name."""
    with open_zip(trial.public / "test.zip") as archive:
        return {name: sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def test_clips_keep_their_labels(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    names = dict(read_csv(trial.private / "names.csv").to_numpy().tolist())
    assert not set(names.values()) & set(read_csv(trial.raw / f"{META}.zip", member=META_TABLE)["fname"])
    now, before = clips(trial), clips(trial_v1)
    assert all(now[new] == before[old] for old, new in names.items())
    old_answers = read_csv(trial_v1.private / "test.csv")
    same = old_answers.assign(fname=old_answers["fname"].map(names)).sort_values("fname", ignore_index=True)
    pd.testing.assert_frame_equal(answers, same)


def test_every_clip_needs_scores(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    old = read_csv(trial_v1.private / "test.csv")
    for value in (None, math.inf):
        assert (
            trial_v1.grade(old.assign(Bark=old["Bark"].astype(float).mask(old[CLASSES].sum(axis=1) == 0, value))) == 1
        )
        blank = answers[CLASSES].sum(axis=1) == 0
        trial.refuses(answers.assign(Bark=answers["Bark"].astype(float).mask(blank, value)), "Bark")


def test_columns_go_by_their_names(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    moved = ["fname", *reversed(CLASSES)]
    trial_v1.refuses(read_csv(trial_v1.private / "test.csv")[moved], "order")
    assert trial.grade(answers[moved]) == 1
