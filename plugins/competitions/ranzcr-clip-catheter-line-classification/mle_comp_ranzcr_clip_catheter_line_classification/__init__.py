"""RANZCR CLiP: which catheters and lines does a chest X-ray show, and are they well placed?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import mean_roc_auc
from mlecore.prepare import encode, ensure_unique, link_files, picture, read_csv, split, split_positions, write_csv
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table

ID = "StudyInstanceUID"
GRADED = [
    "ETT - Abnormal",
    "ETT - Borderline",
    "ETT - Normal",
    "NGT - Abnormal",
    "NGT - Borderline",
    "NGT - Incompletely Imaged",
    "NGT - Normal",
    "CVC - Abnormal",
    "CVC - Borderline",
]
LABELS = [*GRADED, "CVC - Normal", "Swan Ganz Catheter Present"]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = split(read_csv(raw / "train.csv"), test_size=0.1)
    annotations = read_csv(raw / "train_annotations.csv")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(annotations[annotations[ID].isin(train[ID])], public / "train_annotations.csv")
    write_csv(test[[ID]].assign(**dict.fromkeys(GRADED, 0)), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        ensure_unique(part[ID], f"{ID} in the {folder} part")  # an X-ray a row in each folder
        link_files(raw / "train", public / folder, [f"{study}.jpg" for study in part[ID]])


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", [ID, *GRADED])
    truth, guess = aligned(submission, answers, on=ID, columns=GRADED)
    return mean_roc_auc(truth[GRADED], numbers(guess, GRADED, low=0, high=1))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(120, round(400 * size))
    studies = [f"1.2.826.0.1.3680043.8.498.{10**14 + number * 7919}{rng.randint(10**8)}" for number in range(rows + 4)]
    kinds = rng.randint(0, 4, rows + 4)  # of X-ray: the picture tells it, and each label is likelier for one kind
    table = pd.DataFrame({ID: studies[:rows]})
    for number, label in enumerate(LABELS):
        table[label] = (rng.rand(rows) < 0.25 + 0.45 * (kinds[:rows] == number % 4)).astype(int)
    table.loc[split_positions(rows, test_size=0.1)[1][:2], LABELS] = [[0] * 11, [1] * 11]  # both in the test part
    table["PatientID"] = [f"{number // 2:09x}" for number in range(rows)]
    write_csv(table, raw / "train.csv")
    write_csv(pd.DataFrame({ID: studies[rows:]}).assign(**dict.fromkeys(LABELS, 0)), raw / "sample_submission.csv")
    marks = [
        (study, LABELS[rng.randint(11)], str(rng.randint(0, 3000, (rng.randint(2, 6), 2)).tolist()))
        for study in table[ID]
        for _ in range(rng.randint(0, 3))
    ]
    write_csv(pd.DataFrame(marks, columns=[ID, "label", "data"]), raw / "train_annotations.csv")
    for folder in ("train", "test"):
        (raw / folder).mkdir()
    for number, (study, kind) in enumerate(zip(studies, kinds, strict=True)):
        xray = encode(picture(rng, int(kind)), "JPEG")
        (raw / ("train" if number < rows else "test") / f"{study}.jpg").write_bytes(xray)
