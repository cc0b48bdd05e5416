"""TensorFlow 2.0 Question Answering: chunks of a thousand, pandas' JSON, and spans that must match."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

NQ = mlecore.competition("tensorflow2-question-answering")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("tensorflow2-question-answering", tmp_path_factory.mktemp("nq"), size=0.1)


@pytest.fixture
def gold(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "gold_submission.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("tensorflow2-question-answering")


def test_bytes_are_those_of_pandas(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    expected = {"train": "", "test": "", "shown": ""}
    path = trial.raw / "simplified-nq-train.jsonl"
    chunks = 0
    for chunk in pd.read_json(path, orient="records", lines=True, chunksize=1000):
        chunks += 1
        chunk["example_id"] = chunk["example_id"].astype(str)
        train, test = train_test_split(chunk, test_size=0.1, random_state=0)
        shown = test[["example_id", "question_text", "document_text", "long_answer_candidates"]]
        for name, part in (("train", train), ("test", test), ("shown", shown)):
            out = io.StringIO()
            part.to_json(out, orient="records", lines=True)
            expected[name] += out.getvalue()
    assert chunks == 2
    assert (trial.public / "simplified-nq-train.jsonl").read_text() == expected["train"]
    assert (trial.private / "test.jsonl").read_text() == expected["test"]
    assert (trial.public / "simplified-nq-test.jsonl").read_text() == expected["shown"]


@pytest.mark.parametrize("text", ["\x7f", "\\u007f", "\\\x7f", "a/b</P>", "é𝄞\n\t\x01", '"\\"'])
def test_odd_characters(text: str) -> None:
    from mle_comp_tensorflow2_question_answering import _line

    expected = pd.DataFrame([{"a": text}]).to_json(orient="records", lines=True)
    assert _line({"a": text}).decode() == expected


def test_damage_is_said(tmp_path: Path) -> None:
    for folder in ("raw", "public", "private"):
        (tmp_path / folder).mkdir()
    with pytest.raises(DataError, match="missing"):
        NQ.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")


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
def test_odd_questions_are_said(tmp_path: Path, lines: list[str], words: str) -> None:
    (tmp_path / "simplified-nq-train.jsonl").write_text("\n".join(lines) + "\n")
    for folder in ("public", "private"):
        (tmp_path / folder).mkdir()
    with pytest.raises(DataError, match=words):
        NQ.prepare(tmp_path, tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, gold: pd.DataFrame) -> None:
    assert trial.grade(gold) == 1
    blank = gold["PredictionString"].isna().mean()
    assert trial.grade(gold.assign(PredictionString=None)) == blank
    assert 0 < blank < 1
    padded = gold.assign(PredictionString=[f" {p} " if isinstance(p, str) else "  " for p in gold["PredictionString"]])
    assert trial.grade(padded.sample(frac=1, random_state=0).assign(note=1)) == 1
    spans = gold["PredictionString"].str.contains(":", na=False)
    spaced = gold.assign(
        PredictionString=gold["PredictionString"].where(~spans, gold["PredictionString"].str.replace(":", " : +"))
    )
    assert trial.grade(spaced) == 1
    assert trial.grade(gold.assign(PredictionString="YES")) == (gold["PredictionString"] == "YES").mean()


def test_any_of_several_short_answers_is_right(trial: Trial, gold: pd.DataFrame) -> None:
    last = {}
    for line in (trial.private / "test.jsonl").read_text().splitlines():
        answer = json.loads(line)
        if short := answer["annotations"][0]["short_answers"]:
            last[f"{answer['example_id']}_short"] = f"{short[-1]['start_token']}:{short[-1]['end_token']}"
    assert any(gold.set_index("example_id").loc[row, "PredictionString"] != span for row, span in last.items())
    other = [last.get(row, p) for row, p in zip(gold["example_id"], gold["PredictionString"], strict=True)]
    assert trial.grade(gold.assign(PredictionString=other)) == 1


@pytest.mark.parametrize("value", ["yes", "NONE", "a:b", "6.0:7", ":", "3:", "1:2:3", "3-4", "5", "True"])
def test_forms(trial: Trial, gold: pd.DataFrame, value: str) -> None:
    bad = gold.copy()
    bad.loc[4, "PredictionString"] = value
    with pytest.raises(mlecore.InvalidSubmission, match="row 6"):
        trial.grade(bad)
    with pytest.raises(mlecore.InvalidSubmission):
        trial.grade(gold.assign(PredictionString=value))


def test_rows(trial: Trial, gold: pd.DataFrame) -> None:
    repeated = gold.assign(example_id=[gold["example_id"][1], *gold["example_id"][1:]])
    other = gold.assign(example_id=["1_long", *gold["example_id"][1:]])
    for bad in (
        repeated,
        other,
        gold.iloc[1:],
        gold.iloc[:0],
        gold.drop(columns="example_id"),
        gold.assign(example_id=1),
    ):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)


@pytest.mark.parametrize(("odd", "said"), [("", "missing"), ("1_long", "'1_long'"), ("1_long ", "'1_long '")])
def test_an_id_not_asked_for_is_said(trial: Trial, gold: pd.DataFrame, odd: str, said: str) -> None:
    with pytest.raises(mlecore.InvalidSubmission, match=f"1 example_id not asked for: {said}"):
        trial.grade(gold.assign(example_id=[odd, *gold["example_id"][1:]]))
