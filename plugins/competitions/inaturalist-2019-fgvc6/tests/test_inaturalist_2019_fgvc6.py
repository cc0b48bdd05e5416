"""iNaturalist 2019: photographs packed anew, and predictions of which only the first word counts."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pandas as pd
import pytest

from mlecore.errors import InvalidSubmission
from mlecore.prepare import extract
from mlecore.testing import Trial
from mlecore.testing.trees import tree

pytestmark = pytest.mark.trial(size=0.1)


def test_archives_hold_the_parts(trial: Trial, answers: pd.DataFrame) -> None:
    with tarfile.open(trial.raw / "train_val2019.tar.gz") as raw:
        photographs = {member.name: raw.extractfile(member).read() for member in raw}  # type: ignore[union-attr]
    train = json.loads((trial.public / "train2019.json").read_text())
    test = json.loads((trial.public / "test2019.json").read_text())
    assert [image["id"] for image in test["images"]] == answers["id"].tolist()
    expected = {
        "train_val2019.tar.gz": [image["file_name"].removeprefix("train_val2019/") for image in train["images"]],
        "test2019.tar.gz": [image["file_name"].removeprefix("test2019/") for image in test["images"]],
    }
    for name, members in expected.items():
        with tarfile.open(trial.public / name, "r:") as made:
            assert made.getnames() == members
            for member in made:
                data = made.extractfile(member).read()  # type: ignore[union-attr]
                assert data in [photographs[old] for old in photographs if old.endswith(member.name)]
    assert {path.name for path in trial.private.iterdir()} == {"answers.csv"}


def test_unpacked_photographs_come_to_the_same(trial: Trial, tmp_path: Path) -> None:
    for path in trial.raw.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    extract(trial.raw / "train_val2019.tar.gz", tmp_path)
    for folder in ("public", "private"):
        (tmp_path / folder).mkdir()
    trial.competition.prepare(tmp_path, tmp_path / "public", tmp_path / "private")
    assert tree(tmp_path / "public") == tree(trial.public)


def test_the_first_word_counts(trial: Trial, answers: pd.DataFrame) -> None:
    words = [f" +{kind} 3.0 cat" for kind in answers["predicted"]]
    assert trial.grade(answers.assign(predicted=words)) == 0
    assert trial.grade(answers.assign(predicted=False)) == 1 - (answers["predicted"] == 0).mean()
    assert trial.grade(answers.assign(predicted=["-5", *words[1:]])) == pytest.approx(1 / len(answers))
    for wrong in ("3.0 4", "cat", " ", "9223372036854775808 1", "inf"):
        with pytest.raises(InvalidSubmission, match="whole numbers"):
            trial.grade(answers.assign(predicted=[wrong, *words[1:]]))
    for column in (answers["predicted"] + 0.0, [2**63, *answers["predicted"][1:]], [None, *answers["predicted"][1:]]):
        with pytest.raises(InvalidSubmission, match="whole numbers"):
            trial.grade(answers.assign(predicted=column))
