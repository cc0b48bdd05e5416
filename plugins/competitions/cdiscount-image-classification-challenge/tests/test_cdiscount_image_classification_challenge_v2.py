"""Cdiscount, edition v2: no category is in the test part only, and no other category is accepted."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from mle_comp_cdiscount_image_classification_challenge.documents import products

from mlecore_testing import Trial
from mlecore_toolkit import split_positions

pytestmark = pytest.mark.trial(edition="v2")


@pytest.fixture
def raw(trial: Trial) -> Path:
    """Two products of one category, and one of another, which v1 has for testing only."""
    import bson

    folder = trial.raw_copy()
    documents = list(products(folder / "train.bson"))
    first, second, third = sorted(split_positions(len(documents), test_size=0.1)[1].tolist())[:3]
    for place, category in ((first, 11), (second, 11), (third, 12)):
        documents[place]["category_id"] = category
    (folder / "train.bson").write_bytes(b"".join(map(bson.encode, documents)))
    return folder


def categories(public: Path, private: Path) -> tuple[dict[int, int], dict[int, int]]:
    train = {document["_id"]: document["category_id"] for document in products(public / "train.bson")}
    return train, dict(pd.read_csv(private / "answers.csv").to_numpy().tolist())


def test_each_category_can_be_learnt(trial: Trial, trial_v1: Trial, raw: Path) -> None:
    published_train, published_test = categories(*trial_v1.prepare(raw))
    train, test = categories(*trial.prepare(raw))
    assert set(published_test.values()) - set(published_train.values()) == {11, 12}
    assert not set(test.values()) - set(train.values())
    moved = {id: category for id, category in published_test.items() if id not in test}
    assert sorted(moved.values()) == [11, 12]
    assert moved.items() <= train.items()
    assert min(id for id, category in published_test.items() if category == 11) in moved


def test_other_categories_are_invalid(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    foreign = [8, *answers["category_id"][1:]]
    assert trial_v1.grade(answers.assign(category_id=foreign)) < 1
    trial.refuses(answers.assign(category_id=foreign), r"category_names\.csv; found _id '?\d+'?: 8")
    assert trial.grade(answers.assign(category_id=answers["category_id"].astype(float))) == 1
