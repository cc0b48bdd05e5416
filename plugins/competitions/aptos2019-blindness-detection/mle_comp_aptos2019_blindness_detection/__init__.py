"""APTOS 2019 Blindness Detection: how severe is the diabetic retinopathy on a photograph of the retina?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.metrics import quadratic_weighted_kappa
from mlecore.prepare import encode, ensure_unique, hex_ids, link_files, picture, read_csv, split, write_csv
from mlecore.submissions import aligned, labels, read_answers
from mlecore.submissions.table import Table


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv", float_precision=None)[["id_code", "diagnosis"]]
    ensure_unique(table["id_code"], "id_code of train.csv")
    train, test = split(table, test_size=0.1)
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test[["id_code"]], public / "test.csv")
    write_csv(test.assign(diagnosis=0), public / "sample_submission.csv")
    for part, folder in ((train, "train_images"), (test, "test_images")):
        link_files(raw / "train_images", public / folder, [f"{image}.png" for image in part["id_code"]])


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["id_code", "diagnosis"])
    truth, guess = aligned(submission, answers, on="id_code", columns=["diagnosis"])
    return quadratic_weighted_kappa(truth["diagnosis"], labels(guess, "diagnosis"))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = max(200, round(400 * size))  # so that every grade occurs in the test part
    ids = hex_ids(rows + 3, 12, seed=seed)
    table = pd.DataFrame({"id_code": ids[:rows], "diagnosis": rng.choice(5, rows, p=[0.45, 0.15, 0.2, 0.1, 0.1])})
    write_csv(table, raw / "train.csv")
    write_csv(pd.DataFrame({"id_code": ids[rows:]}), raw / "test.csv")
    write_csv(pd.DataFrame({"id_code": ids[rows:], "diagnosis": 0}), raw / "sample_submission.csv")
    grades = [*table["diagnosis"], 0, 1, 2]
    for number, (image, grade_) in enumerate(zip(ids, grades, strict=True)):
        path = raw / ("train_images" if number < rows else "test_images") / f"{image}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(encode(picture(rng, int(grade_), *[(32, 32), (48, 40)][number % 2]), "PNG"))
