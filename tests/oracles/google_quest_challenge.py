import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.model_selection import train_test_split

SPELLING = "question_type_spelling"


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    targets = list(rows.columns[11:])
    assert len(rows.columns) == 41
    train, test = train_test_split(rows, test_size=0.1, random_state=0)
    if test[SPELLING].nunique() == 1:
        place = int(np.flatnonzero(train[SPELLING] != 0)[0])
        whole = pd.concat([test, train])
        order = np.arange(len(whole))
        order[[0, len(test) + place]] = order[[len(test) + place, 0]]
        whole = whole.iloc[order]
        test, train = whole.iloc[: len(test)], whole.iloc[len(test) :]
    assert (test[targets].nunique() > 1).all()
    test[["qa_id", *targets]].to_csv(private / "test.csv", index=False)
    train.to_csv(public / "train.csv", index=False)
    test.drop(columns=targets).to_csv(public / "test.csv", index=False)
    ramp = np.linspace(0, 1, len(test))
    test[["qa_id"]].assign(**dict.fromkeys(targets, ramp)).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert set(predictions.columns) == set(truth.columns) and len(predictions.columns) == len(truth.columns)
    assert len(predictions) == len(truth)
    predictions, truth = predictions.sort_values("qa_id"), truth.sort_values("qa_id")
    targets = [name for name in truth.columns if name != "qa_id"]
    return float(np.mean([correlation(predictions[name], truth[name]) for name in targets]))


def correlation(predictions, truth):
    if predictions.isna().any():
        return np.nan
    values = predictions.to_numpy()
    if values.dtype == object:  # ranked as text
        values = pd.Series(values).astype(str).to_numpy(dtype=str)
    return spearmanr(values, truth.to_numpy()).correlation
