import shutil

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

COLUMNS = ["event_id", "azimuth", "zenith"]


def prepare(raw, public, private):
    meta = pd.read_parquet(raw / "train_meta.parquet")
    batches = train_test_split(meta["batch_id"].unique(), test_size=0.1, random_state=0)
    train, test = (meta[meta["batch_id"].isin(part)].reset_index(drop=True) for part in batches)
    train.to_parquet(public / "train_meta.parquet", index=False, engine="fastparquet")
    shown = test.drop(columns=["azimuth", "zenith"])
    shown.to_parquet(public / "test_meta.parquet", index=False, engine="fastparquet")
    test[COLUMNS].to_csv(private / "test.csv", index=False)
    test[COLUMNS].assign(azimuth=1, zenith=1).to_csv(public / "sample_submission.csv", index=False)
    shutil.copy(raw / "sensor_geometry.csv", public)
    for part, name in zip(batches, ("train", "test"), strict=True):
        (public / name).mkdir()
        for path in (raw / "train").glob("*.parquet"):
            if int(path.stem.split("_")[-1]) in part:
                shutil.copy(path, public / name)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert sorted(predictions.columns) == sorted(COLUMNS)
    assert len(predictions) == len(truth) and set(predictions["event_id"]) == set(truth["event_id"])
    for name in ("azimuth", "zenith"):
        assert predictions[name].dtype.kind in "iuf" and np.isfinite(predictions[name].astype(float)).all()
    predictions, truth = predictions.sort_values("event_id"), truth.sort_values("event_id")
    a, z = truth["azimuth"].to_numpy(), truth["zenith"].to_numpy()
    b, y = predictions["azimuth"].to_numpy(), predictions["zenith"].to_numpy()
    cos = np.sin(z) * np.sin(y) * (np.cos(a) * np.cos(b) + np.sin(a) * np.sin(b)) + np.cos(z) * np.cos(y)
    return float(np.abs(np.arccos(np.clip(cos, -1, 1))).mean())
