import random
import shutil

import numpy as np
import pandas as pd


def prepare(raw, public, private):
    rows = pd.read_csv(raw / "train.csv", float_precision="round_trip")
    boxes = pd.read_csv(raw / "train_bounding_boxes.csv", float_precision="round_trip")
    rng = random.Random(0)
    with_box = sorted(boxes["StudyInstanceUID"].unique())
    with_mask = sorted(path.name.removesuffix(".nii") for path in (raw / "segmentations").glob("*.nii"))
    with_both = [study for study in with_box if study in with_mask]
    n_train = round(0.1 * len(rows))
    n_box, n_mask, n_both = (round(0.1 * len(each)) for each in (with_box, with_mask, with_both))
    both = rng.sample(with_both, n_both)
    train, masks, boxed = list(both), list(both), list(both)
    drawn = rng.sample([study for study in with_mask if study not in with_both], n_mask - n_both)
    masks += drawn
    train += drawn
    drawn = rng.sample([study for study in with_box if study not in with_both], n_box - n_both)
    boxed += drawn
    train += drawn
    train += rng.sample([study for study in rows["StudyInstanceUID"] if study not in train], n_train - len(train))
    rows[rows["StudyInstanceUID"].isin(train)].to_csv(public / "train.csv", index=False)
    boxes[boxes["StudyInstanceUID"].isin(boxed)].to_csv(public / "train_bounding_boxes.csv", index=False)
    test = rows[~rows["StudyInstanceUID"].isin(train)]
    answers = test.melt(id_vars="StudyInstanceUID", var_name="prediction_type", value_name="fractured")
    answers["row_id"] = answers["StudyInstanceUID"] + "_" + answers["prediction_type"]
    answers.to_csv(private / "answers.csv", index=False)
    answers[["row_id"]].assign(fractured=0.5).to_csv(public / "sample_submission.csv", index=False)
    answers.drop(columns="fractured").to_csv(public / "test.csv", index=False)
    (public / "segmentations").mkdir()
    for study in masks:
        shutil.copy(raw / "segmentations" / f"{study}.nii", public / "segmentations")
    for studies, folder in ((train, "train_images"), (test["StudyInstanceUID"], "test_images")):
        for study in studies:
            shutil.copytree(raw / "train_images" / study, public / folder / study)


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")[["row_id", "fractured"]].sort_values("row_id")
    truth = pd.read_csv(private / "answers.csv", float_precision="round_trip").sort_values("row_id")
    assert len(predictions) == len(truth)
    assert (predictions["row_id"].to_numpy() == truth["row_id"].to_numpy()).all()
    assert predictions["fractured"].dtype != object
    p = predictions["fractured"].to_numpy(dtype=float)
    assert ((p >= 0) & (p <= 1)).all()
    p = np.clip(p, 1e-15, 1 - 1e-15)
    y = truth["fractured"].to_numpy(dtype=float)
    whole = truth["row_id"].str.split("_", n=1).str[1].to_numpy() == "patient_overall"
    weights = np.where(whole, 7.0, 1.0) * np.where(y == 1, 2.0, 1.0)
    table = pd.DataFrame({"study": truth["row_id"].str.split("_", n=1).str[0].to_numpy(), "weight": weights})
    table["loss"] = -weights * (y * np.log(p) + (1 - y) * np.log(1 - p))
    sums = table.groupby("study").sum()
    return float((sums["loss"] / sums["weight"]).mean())
