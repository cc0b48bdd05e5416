"""SIIM-ISIC Melanoma Classification: does an image of a lesion of the skin show melanoma?"""

from __future__ import annotations

from pathlib import Path

from mle_comp_siim_isic_melanoma_classification.records import example, first_texts, write_records
from mlecore.hookspecs import hookimpl
from mlecore.metrics import roc_auc
from mlecore.prepare import dicom, encode, ensure_columns, link_file, link_files, picture, read_csv, write_csv
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table

KNOWN = ["image_name", "patient_id", "sex", "age_approx", "anatom_site_general_challenge"]
COLUMNS = [*KNOWN, "diagnosis", "benign_malignant", "target"]
TEST_RECORDS = ("train00-2071.tfrec", "train06-2071.tfrec")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv", float_precision=None)
    ensure_columns(table, COLUMNS, "train.csv")
    chosen = {name for file in TEST_RECORDS for name in first_texts(raw / "tfrecords" / file, "image_name")}
    in_test = table["image_name"].isin(chosen)
    train, test = table[~in_test], table[in_test]
    write_csv(train, public / "train.csv")
    write_csv(test[KNOWN], public / "test.csv")
    write_csv(test[["image_name", "target"]], private / "test.csv")
    write_csv(test[["image_name"]].assign(target=0), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        link_files(raw / "train", public / folder, [f"{image}.dcm" for image in part["image_name"]])
        link_files(raw / "jpeg" / "train", public / "jpeg" / folder, [f"{image}.jpg" for image in part["image_name"]])
    counted = {"train": 0, "test": 0}
    for file in sorted((raw / "tfrecords").glob("train*.tfrec")):
        part_of = "test" if file.name in TEST_RECORDS else "train"
        images = file.stem.split("-")[1]
        link_file(file, public / "tfrecords" / f"{part_of}{counted[part_of]:02d}-{images}.tfrec")
        counted[part_of] += 1


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["image_name", "target"])
    truth, guess = aligned(submission, answers, on="image_name", columns=["target"])
    return roc_auc(truth["target"], numbers(guess, "target", low=0, high=1))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    files = ["train00-2071", "train01-2071", "train05-2071", "train06-2071", "train07-2071", "train15-2061"]
    rows = len(files) * max(25, round(60 * size))
    images = [f"ISIC_{number:07d}" for number in rng.permutation(10 * rows)[:rows]]
    targets = (rng.rand(rows) < 0.3).astype(int)
    table = pd.DataFrame({"image_name": images, "patient_id": [f"IP_{1000 + i // 3:07d}" for i in range(rows)]})
    table["sex"] = rng.choice(["male", "female", None], rows, p=[0.5, 0.45, 0.05])
    table["age_approx"] = [None if rng.rand() < 0.05 else 5.0 * rng.randint(3, 18) for _ in range(rows)]
    table["anatom_site_general_challenge"] = rng.choice(["torso", "head/neck", "lower extremity", None], rows)
    table["diagnosis"] = [["unknown", "melanoma"][target] for target in targets]
    table["benign_malignant"] = [["benign", "malignant"][target] for target in targets]
    table["target"] = targets
    write_csv(table, raw / "train.csv")
    for folder in ("train", "jpeg/train", "tfrecords"):
        (raw / folder).mkdir(parents=True)
    home = [files[i % len(files)] for i in range(rows)]
    for name in files:
        with write_records(raw / "tfrecords" / f"{name}.tfrec") as write:
            for image, target, file in zip(images, targets, home, strict=True):
                if file == name:
                    pixels = picture(rng, int(target))
                    jpeg = encode(pixels, "JPEG")
                    (raw / "jpeg" / "train" / f"{image}.jpg").write_bytes(jpeg)
                    (raw / "train" / f"{image}.dcm").write_bytes(dicom(pixels[:, :, 0]))
                    write(example({"image": jpeg, "image_name": image.encode(), "target": int(target)}))
    with write_records(raw / "tfrecords" / "test00-687.tfrec") as write:  # Kaggle's own test set
        write(example({"image": encode(picture(rng, 0), "JPEG"), "image_name": b"ISIC_9999999"}))
