"""TensorFlow 2.0 Question Answering: odd lines, pandas' JSON, and spans that must match."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from mle_comp_tensorflow2_question_answering import _line

from mlecore_testing import Trial


@pytest.mark.parametrize("text", ["\x7f", "\\u007f", "\\\x7f", "a/b</P>", "é𝄞\n\t\x01", '"\\"'])
def test_odd_characters(text: str) -> None:
    expected = pd.DataFrame([{"a": text}]).to_json(orient="records", lines=True)
    assert _line({"a": text}).decode() == expected


def question(number: int, annotations: int = 1) -> str:
    long = {"start_token": -1, "candidate_index": -1, "end_token": -1}
    annotation = {"yes_no_answer": "NONE", "long_answer": long, "short_answers": [], "annotation_id": 1}
    record = {"document_text": "a b", "long_answer_candidates": [], "question_text": "c"}
    record |= {"annotations": [annotation] * annotations, "document_url": "u/v", "example_id": 10**18 + number}
    return json.dumps(record)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([question(number, annotations=2) for number in range(3)], "2 annotations"),
        ([question(number, annotations=0) for number in range(3)], "0 annotations"),
        (['{"example_id": 1, "annotations": []}'] * 3, "lack document_text"),
        ([question(0), "", *(question(number) for number in range(1, 5))], "damaged"),  # lines must add up
        (["{"], "damaged"),
    ],
)
def test_odd_questions_are_refused(trial: Trial, tmp_path: Path, lines: list[str], words: str) -> None:
    (tmp_path / "simplified-nq-train.jsonl").write_text("\n".join(lines) + "\n")
    trial.refuses_raw(tmp_path, words)


def test_any_of_several_short_answers_is_right(trial: Trial, perfect: pd.DataFrame) -> None:
    last = {}
    for line in (trial.private / "test.jsonl").read_text().splitlines():
        answer = json.loads(line)
        if short := answer["annotations"][0]["short_answers"]:
            last[f"{answer['example_id']}_short"] = f"{short[-1]['start_token']}:{short[-1]['end_token']}"
    assert any(perfect.set_index("example_id").loc[row, "PredictionString"] != span for row, span in last.items())
    other = [last.get(row, p) for row, p in zip(perfect["example_id"], perfect["PredictionString"], strict=True)]
    assert trial.grade(perfect.assign(PredictionString=other)) == 1


@pytest.mark.parametrize("value", ["yes", "NONE", "a:b", "6.0:7", ":", "3:", "1:2:3", "3-4", "5", "True"])
def test_other_forms_are_refused(trial: Trial, perfect: pd.DataFrame, value: str) -> None:
    trial.refuses(perfect.assign(PredictionString=value), "expected start:end, YES, NO or nothing")
    perfect.loc[4, "PredictionString"] = value
    trial.refuses(perfect, perfect["example_id"][4])
