"""TensorFlow 2.0 Question Answering, edition v2: pages and questions on one side, and Kaggle's F1."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
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


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial) -> None:
    rng = np.random.default_rng(0)
    items = [annotated(rng, number) for number in range(20)]
    lines = "".join(json.dumps(item) + "\n" for item in items)
    for _ in range(200):
        tp = fp = fn = 0
        rows = []
        for item in items:
            annotation = item["annotations"][0]
            for kind in ("long", "short"):
                said = str(rng.choice(["", "1:4", "2:3", "3:5", *(["YES"] if kind == "short" else [])]))
                rows.append((f"{item['example_id']}_{kind}", said))
                spans = [annotation["long_answer"]] if kind == "long" else annotation["short_answers"]
                right = {f"{span['start_token']}:{span['end_token']}" for span in spans if span["start_token"] >= 0}
                if kind == "short" and annotation["yes_no_answer"] != "NONE":
                    right.add(annotation["yes_no_answer"])
                tp += said in right
                fp += said != "" and said not in right
                fn += said == "" and bool(right)
        given = pd.DataFrame(rows, columns=["example_id", "PredictionString"]).sample(frac=1, random_state=1)
        assert abs(trial.grade(given, lines) - 2 * tp / (2 * tp + fp + fn)) < 1e-9


def annotated(rng: np.random.Generator, number: int) -> dict[str, list[dict]]:
    def span(start: int, end: int) -> dict[str, int]:
        return {"start_token": start, "end_token": end}

    long = span(1, 4) if rng.random() < 0.7 else span(-1, -1)
    short = [span(2, 3), span(3, 5)][: rng.integers(0, 3)]
    annotation = {"long_answer": long, "short_answers": short, "yes_no_answer": str(rng.choice(["NONE", "YES", "NO"]))}
    return {"example_id": str(number), "annotations": [annotation]}
