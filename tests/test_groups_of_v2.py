"""Rule 5 of docs/editions.md: in edition v2 all rows of one patient, speaker, sentence or similar are on one side.

Those in which edition v1 splits them, and whose groups are in columns of tables; of others the packages test it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_testing.shared_data import SharedData

Group = tuple[str, str, Sequence[str], str]  # files of train and test, columns, the part of them that names the group
ALL = "(.*)"

COLUMNS: dict[str, Group] = {
    "chaii-hindi-and-tamil-question-answering": ("public/train.csv", "public/test.csv", ["context"], ALL),
    "facebook-recruiting-iii-keyword-extraction": ("public/train.csv", "public/test.csv", ["Title", "Body"], ALL),
    "google-quest-challenge": ("public/train.csv", "public/test.csv", ["question_title", "question_body"], ALL),
    "hms-harmful-brain-activity-classification": ("public/train.csv", "public/test.csv", ["patient_id"], ALL),
    "nfl-player-contact-detection": ("public/train_labels.csv", "private/test.csv", ["game_play"], r"(\d+)_"),
    "ranzcr-clip-catheter-line-classification": ("public/train.csv", "private/test.csv", ["PatientID"], ALL),
    "siim-isic-melanoma-classification": ("public/train.csv", "public/test.csv", ["patient_id"], ALL),
    "spaceship-titanic": ("public/train.csv", "public/test.csv", ["PassengerId"], r"(\d+)_"),
    "us-patent-phrase-to-phrase-matching": ("public/train.csv", "public/test.csv", ["anchor"], ALL),
}


@pytest.mark.parametrize("competition", COLUMNS)
def test_groups_are_on_one_side(competition: str, tmp_path: Path, shared_data: SharedData) -> None:
    *files, columns, pattern = COLUMNS[competition]
    trial = Trial(competition, tmp_path, edition="v2", size=0.3, shared=shared_data)
    train, test = (_groups(trial.prepared / file, columns, pattern) for file in files)
    assert train and test
    assert not train & test


def _groups(path: Path, columns: Sequence[str], pattern: str) -> set[tuple[str, ...]]:
    table = pd.read_csv(path, usecols=list(columns), dtype=str, keep_default_na=False)
    parts = [table[column].str.extract(f"^{pattern}", flags=re.DOTALL, expand=False) for column in columns]
    return set(pd.concat(parts, axis=1).dropna().itertuples(index=False, name=None))
