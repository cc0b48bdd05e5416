"""Molecules: pictures in three levels of folders, and distances of whatever text is there."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore.errors import DataError
from mlecore.metrics import edit_distance
from mlecore.testing import Trial

pytestmark = pytest.mark.trial(size=0.3)


def test_parts(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "train_labels.csv")
    assert [len(train), len(answers)] == [48, 12]
    for part, folder in ((train, "train"), (answers, "test")):
        names = {f"{id[0]}/{id[1]}/{id[2]}/{id}.png" for id in part["image_id"]}
        found = {path.relative_to(trial.public / folder).as_posix() for path in (trial.public / folder).rglob("*.png")}
        assert found == names
    assert '"InChI=1S/' in (trial.private / "test.csv").read_text()
    assert set(pd.read_csv(trial.public / "sample_submission.csv")["InChI"]) == {"InChI=1S/H2O/h1H2"}


def test_an_image_named_twice_is_refused(trial: Trial) -> None:
    raw = trial.folder / "twice"
    raw.mkdir()
    table = pd.read_csv(trial.raw / "train_labels.csv")
    pd.concat([table] * 2).to_csv(raw / "train_labels.csv", index=False)
    (raw / "train").symlink_to(trial.raw / "train")
    with pytest.raises(DataError, match="96 rows have"):
        trial.competition.prepare(raw, raw / "public", raw / "private")


def test_distances(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.sample(frac=1, random_state=1)) == 0
    texts = answers["InChI"].tolist()
    for cell, text in (("", "nan"), ("NA", "nan"), ("1.50", "1.5"), ("True", "True"), ("日本", "日本")):
        expected = sum(edit_distance(right, text) for right in texts) / len(texts)
        assert trial.grade(answers.assign(InChI=cell)) == pytest.approx(expected, abs=1e-12)
    other = [f"{text[1:8]}x{text[9:]}-" for text in texts]  # one gone, one replaced, one more
    assert trial.grade(answers.assign(InChI=other)) == 3
