"""TensorFlow 2.0 Question Answering, edition v2: pages and questions on one side, and Kaggle's F1."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2")


def questions(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def pages_and_questions_of_both(trial: Trial) -> tuple[int, int]:
    urls = {
        str(item["example_id"]): str(item["document_url"])
        for item in questions(trial.raw / "simplified-nq-train.jsonl")
    }
    parts = [questions(trial.public / f"simplified-nq-{part}.jsonl") for part in ("train", "test")]
    pages = [{urls[str(item["example_id"])].partition("&")[0] for item in part} for part in parts]
    texts = [{item["question_text"] for item in part} for part in parts]
    return len(pages[0] & pages[1]), len(texts[0] & texts[1])


def test_pages_and_questions_are_on_one_side(trial: Trial, trial_v1: Trial) -> None:
    assert min(pages_and_questions_of_both(trial_v1)) > 0
    assert pages_and_questions_of_both(trial) == (0, 0)
    train, test = (len(questions(trial.public / f"simplified-nq-{part}.jsonl")) for part in ("train", "test"))
    assert 0.09 < test / (train + test) <= 0.11


def test_answers_hold_no_documents(trial: Trial, perfect: pd.DataFrame) -> None:
    assert {tuple(item) for item in questions(trial.private / "test.jsonl")} == {("example_id", "annotations")}
    assert trial.grade(perfect) == 1


def test_blanks_earn_nothing(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    assert trial_v1.grade((trial_v1.public / "sample_submission.csv").read_text()) > 0.2
    assert trial.grade(perfect.assign(PredictionString="")) == 0
    found = (perfect["PredictionString"] != "").sum()
    wrong = perfect.assign(PredictionString=perfect["PredictionString"].where(perfect["PredictionString"] != "", "1:2"))
    assert math.isclose(trial.grade(wrong), 2 * found / (found + len(perfect)))


@pytest.mark.parametrize("value", ["NA", "-1:-1", "7:7", "8:7", "1_0:12", "6.0:7", "1: 2", "9" * 5000 + ":1", "yes"])
def test_other_forms_are_invalid(trial: Trial, perfect: pd.DataFrame, value: str) -> None:
    cells = [*perfect["PredictionString"][:4], value, *perfect["PredictionString"][5:]]
    trial.refuses(perfect.assign(PredictionString=cells), f"{perfect['example_id'][4]}")


def test_long_answers_are_not_yes_or_no(trial: Trial, perfect: pd.DataFrame) -> None:
    long = perfect["example_id"].str.endswith("_long")
    assert trial.grade(perfect.assign(PredictionString=perfect["PredictionString"].where(long, "YES"))) < 1
    trial.refuses(perfect.assign(PredictionString=perfect["PredictionString"].where(~long, "YES")), "in short rows YES")
