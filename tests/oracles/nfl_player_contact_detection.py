import shutil

import numpy as np
import pandas as pd
from sklearn.metrics import matthews_corrcoef
from sklearn.model_selection import train_test_split


def prepare(raw, public, private):
    labels = pd.read_csv(raw / "train_labels.csv")
    train_plays, test_plays = train_test_split(labels["game_play"].unique(), test_size=0.1, random_state=0)
    in_train = labels["game_play"].isin(train_plays)
    labels[in_train].to_csv(public / "train_labels.csv", index=False)
    labels[~in_train].to_csv(private / "test.csv", index=False)
    labels[~in_train][["contact_id"]].assign(contact=0).to_csv(public / "sample_submission.csv", index=False)
    for name in ("baseline_helmets", "player_tracking", "video_metadata"):
        table = pd.read_csv(raw / f"train_{name}.csv")
        table[table["game_play"].isin(train_plays)].to_csv(public / f"train_{name}.csv", index=False)
        table[table["game_play"].isin(test_plays)].to_csv(public / f"test_{name}.csv", index=False)
    for plays, folder in ((train_plays, "train"), (test_plays, "test")):
        (public / folder).mkdir()
        for play in plays:
            for view in ("All29", "Endzone", "Sideline"):
                shutil.copy(raw / "train" / f"{play}_{view}.mp4", public / folder / f"{play}_{view}.mp4")


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert {"contact_id", "contact"} <= set(predictions.columns)
    assert len(predictions) == len(truth)
    assert set(predictions["contact_id"]) == set(truth["contact_id"])
    predictions, truth = predictions.sort_values("contact_id"), truth.sort_values("contact_id")
    values = predictions["contact"]
    assert values.dtype != object
    values = values.to_numpy()
    if values.dtype.kind == "f":
        assert np.isfinite(values).all() and (values % 1 == 0).all()
        assert (values >= -(2.0**63)).all() and (values < 2.0**63).all()
    return matthews_corrcoef(truth["contact"].to_numpy(), values)
