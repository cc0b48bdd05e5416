"""Humpback Whale Identification, edition v2: new names, no copies across the split, no empty cells."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def contents(public: Path, part: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (public / part).iterdir()}


@pytest.fixture
def raw(trial: Trial, trial_v1: Trial) -> Path:
    """One of v1's test photographs is a copy of a training photograph of another whale."""
    folder = trial.raw_copy()
    train, test = (sorted(contents(trial_v1.public, part)) for part in ("train", "test"))
    (folder / "train" / test[0]).write_bytes((folder / "train" / train[0]).read_bytes())
    return folder


def test_copies_are_on_one_side(trial: Trial, trial_v1: Trial, raw: Path) -> None:
    def shared(one: Trial) -> set[bytes]:
        public, _ = one.prepare(raw)
        return set(contents(public, "train").values()) & set(contents(public, "test").values())

    assert len(shared(trial_v1)) == 1
    assert not shared(trial)


def test_test_photographs_have_new_names(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "train.csv", index_col="Image")["Id"]
    assert pd.read_csv(trial_v1.public / "sample_submission.csv")["Image"].isin(raw.index).all()
    assert not answers["Image"].isin(raw.index).any()
    names = dict(pd.read_csv(trial.private / "names.csv").to_numpy().tolist())
    known, labels = set(pd.read_csv(trial.public / "train.csv")["Id"]), answers.set_index("Image")["Id"]
    pictures = contents(trial.public, "test")
    assert set(pictures) == set(labels.index)
    for old, new in names.items():
        assert pictures[new] == (trial.raw / "train" / old).read_bytes()
        assert labels[new] == (raw[old] if raw[old] in known else "new_whale")
