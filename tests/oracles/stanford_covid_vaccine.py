import json

import numpy as np
import pandas as pd

TARGETS = ["reactivity", "deg_Mg_pH10", "deg_pH10", "deg_Mg_50C", "deg_50C"]
SCORED = ["reactivity", "deg_Mg_pH10", "deg_Mg_50C"]


def prepare(raw, public, private):
    records = pd.read_json(raw / "train.json", lines=True)
    with (raw / "test.json").open() as file:
        columns = list(json.loads(file.readline()))
    sampled = records[records["SN_filter"] > 0].sample(n=int(0.1 * len(records)), random_state=0)
    is_test = records.index.isin(sampled.index)
    train, test = records[~is_test].copy(), records[is_test].copy()
    rows = []
    for _, record in test.iterrows():
        for place in range(record["seq_length"]):
            kept = place < record["seq_scored"]
            values = [record[target][place] if kept else 0.0 for target in TARGETS]
            rows.append([f"{record['id']}_{place}", *values, kept])
    answers = pd.DataFrame(rows, columns=["id_seqpos", *TARGETS, "keep"])
    answers.to_csv(private / "test.csv", index=False, float_format="%.10f")
    sample = answers[["id_seqpos", *TARGETS]].copy()
    sample[TARGETS] = 0.0
    sample.to_csv(public / "sample_submission.csv", index=False, float_format="%.10f")
    train["index"], test["index"] = range(len(train)), range(len(test))
    train.to_json(public / "train.json", orient="records", lines=True)
    test[columns].to_json(public / "test.json", orient="records", lines=True)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    assert {"id_seqpos", *TARGETS} <= set(predictions.columns)
    predictions, truth = predictions.sort_values("id_seqpos"), truth.sort_values("id_seqpos")
    assert (predictions["id_seqpos"].to_numpy() == truth["id_seqpos"].to_numpy()).all()
    kept = truth.index[truth["keep"]]
    wanted = truth.loc[truth["keep"], SCORED].to_numpy()
    chosen = predictions[predictions.index.isin(kept)]
    errors = []
    for place, target in enumerate(SCORED):
        column = predictions[target]
        if column.dtype == object:
            column = column.loc[chosen.index]
            assert (
                not column.map(lambda cell: cell is True or cell is False).any()
                or not column.map(lambda cell: isinstance(cell, str)).any()
            )
        values = np.array([float(value) for value in chosen[target]])
        assert np.isfinite(values).all()
        with np.errstate(over="ignore"):
            errors.append(np.sqrt(np.mean((wanted[:, place] - values) ** 2)))
    return np.mean(errors)
