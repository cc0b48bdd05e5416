"""AI4Code, from its sheet."""

import json
import shutil

import pandas as pd


def prepare(raw, public, private):
    ancestors = pd.read_csv(raw / "train_ancestors.csv", float_precision="round_trip")
    ancestors = ancestors.sample(frac=1, random_state=0).reset_index(drop=True)
    groups = {}
    for id, ancestor in zip(ancestors["id"], ancestors["ancestor_id"], strict=True):
        groups.setdefault(ancestor, []).append(id)
    test, train = [], []
    for ids in groups.values():
        if len(test) + len(ids) <= 20_000:
            test += ids
        else:
            train += ids
    assert len(test) == 20_000
    for name, ids in (("train", train), ("test", test)):
        (public / name).mkdir()
        for id in ids:
            shutil.copy(raw / "train" / f"{id}.json", public / name)
    orders = pd.read_csv(raw / "train_orders.csv", float_precision="round_trip")
    answers = orders[orders["id"].isin(test)]
    orders[orders["id"].isin(train)].to_csv(public / "train_orders.csv", index=False)
    answers.to_csv(private / "test_orders.csv", index=False)
    ancestors[~ancestors["id"].isin(test)].to_csv(public / "train_ancestors.csv", index=False)
    sample = [
        " ".join(json.loads((raw / "train" / f"{id}.json").read_text(encoding="utf-8"))["cell_type"])
        for id in answers["id"]
    ]
    answers.assign(cell_order=sample).to_csv(public / "sample_submission.csv", index=False)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test_orders.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    assert set(predictions["id"]) == set(truth["id"])
    said = dict(zip(predictions["id"], predictions["cell_order"].astype(str).str.split(), strict=True))
    inversions, most = 0, 0
    for id, order in zip(truth["id"], truth["cell_order"].str.split(), strict=True):
        assert len(said[id]) == len(order)
        places = [said[id].index(cell) for cell in order]
        inversions += sum(a > b for k, a in enumerate(places) for b in places[k + 1 :])
        most += len(order) * (len(order) - 1)
    return 1 - 4 * inversions / most
