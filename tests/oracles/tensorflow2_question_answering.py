"""TensorFlow 2.0 Question Answering, from its sheet."""

import json

import pandas as pd
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

SHOWN = ["example_id", "question_text", "document_text", "long_answer_candidates"]


def span(pair):
    return f"{pair['start_token']}:{pair['end_token']}"


def prepare(raw, public, private):
    gold = []
    chunks = pd.read_json(raw / "simplified-nq-train.jsonl", orient="records", lines=True, chunksize=1000)
    for chunk in chunks:
        chunk["example_id"] = chunk["example_id"].astype(str)
        train, test = train_test_split(chunk, test_size=0.1, random_state=0)
        for path, rows in (
            (public / "simplified-nq-train.jsonl", train),
            (private / "test.jsonl", test),
            (public / "simplified-nq-test.jsonl", test[SHOWN]),
        ):
            with path.open("a") as file:
                rows.to_json(file, orient="records", lines=True)
        for id, (note,) in zip(test["example_id"], test["annotations"], strict=True):
            short = note["yes_no_answer"] if note["yes_no_answer"] != "NONE" else ""
            if not short and note["short_answers"]:
                short = span(note["short_answers"][0])
            gold += [(f"{id}_short", short)]
            gold += [(f"{id}_long", span(note["long_answer"]) if note["long_answer"]["start_token"] != -1 else "")]
    rows = pd.DataFrame(gold, columns=["example_id", "PredictionString"])
    rows.to_csv(private / "gold_submission.csv", index=False)
    rows.assign(PredictionString="").to_csv(public / "sample_submission.csv", index=False)


def read(text):
    text = text.strip()
    if text.count(":") == 1:
        return tuple(int(part) for part in text.split(":"))
    assert text in ("YES", "NO", "")
    return text


def grade(submission, private):
    answers = [json.loads(line) for line in (private / "test.jsonl").read_text().splitlines()]
    right = {}
    for answer in answers:
        (note,) = answer["annotations"]
        long = note["long_answer"]
        right[f"{answer['example_id']}_long"] = [(long["start_token"], long["end_token"])][: long["start_token"] != -1]
        right[f"{answer['example_id']}_short"] = [
            (short["start_token"], short["end_token"]) for short in note["short_answers"]
        ] + [note["yes_no_answer"]] * (note["yes_no_answer"] != "NONE")
    predictions = pd.read_csv(submission, float_precision="round_trip")
    assert len(predictions) == 2 * len(answers)
    said = dict(
        zip(predictions["example_id"].astype(str), predictions["PredictionString"].fillna("").astype(str), strict=True)
    )
    assert set(said) == set(right)
    y_true, y_pred = [], []
    for id, text in said.items():
        pair = read(text)
        y_pred.append(int(pair != ""))
        y_true.append(int(pair in right[id] if pair != "" else bool(right[id])))
    return f1_score(y_true, y_pred, average="micro")
