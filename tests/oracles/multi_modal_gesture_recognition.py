"""Multi-modal Gesture Recognition, from its sheet."""

import random
import shutil
import tarfile

import pandas as pd

COPIED = [
    *(f"training{k}.tar.gz" for k in (1, 2, 3)),
    *(f"validation{k}.tar.gz" for k in (1, 2, 3)),
    "devel01-40.7z",
    "valid_all_files_combined.7z",
    "sample_code_mmrgc.zip",
]


def prepare(raw, public, private):
    with tarfile.open(raw / "training4.tar.gz") as archive:
        names = [name.removeprefix("./") for name in archive.getnames()]
    ids = sorted(name[: -len(".zip")][-4:] for name in names if name.endswith(".zip") and "/" not in name)
    rows = pd.read_csv(raw / "training.csv", dtype=str)
    asked = rows["Id"].isin(ids)
    rows[~asked].to_csv(public / "training.csv", index=False)
    rows[asked].to_csv(private / "test.csv", index=False)
    assert sorted(rows[asked]["Id"]) == ids
    pd.DataFrame({"Id": ids}).to_csv(public / "test.csv", index=False)
    random.seed(0)
    guesses = [" ".join(map(str, random.sample(range(1, 21), 20))) for _ in ids]
    pd.DataFrame({"Id": ids, "Sequence": guesses}).to_csv(public / "randomPredictions.csv", index=False)
    shutil.copy(raw / "training4.tar.gz", public / "test.tar.gz")
    for name in COPIED:
        shutil.copy(raw / name, public)


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def grade(submission, private):
    predictions = pd.read_csv(submission, float_precision="round_trip")
    truth = pd.read_csv(private / "test.csv", float_precision="round_trip")
    assert len(predictions) == len(truth)
    predictions["Id"], predictions["Sequence"]
    predictions, truth = (table.sort_values("Id").reset_index(drop=True) for table in (predictions, truth))
    assert (predictions["Id"] == truth["Id"]).all()
    said, right = ([[int(word) for word in str(cell).split()] for cell in t["Sequence"]] for t in (predictions, truth))
    return sum(map(levenshtein, right, said)) / sum(map(len, right))
