"""BMS Molecular Translation: which molecule is drawn here?"""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, edit_distance, ensure, link_file, link_files, read_csv, split, write_csv

WATER = "InChI=1S/H2O/h1H2"
EXTRA = "extra_approved_InChIs.csv"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train_labels.csv", float_precision=None)
    train, test = split(table, test_size=0.2)
    write_csv(train, public / "train_labels.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.assign(InChI=WATER), public / "sample_submission.csv")
    for part, folder in ((train, "train"), (test, "test")):
        count = link_files(raw / "train", public / folder, map(_image, part["image_id"]))
        ensure(count == len(part), f"{folder}: {len(part):,} rows have {count:,} images")
    link_file(raw / EXTRA, public / EXTRA)


def _image(id: str) -> str:
    """Where its picture is: three levels of folders."""
    return f"{id[0]}/{id[1]}/{id[2]}/{id}.png"


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean of Levenshtein's distance between the texts, whatever they are: a missing one is ``nan``."""
    truth, predictions = format.read(submission, private / "test.csv")
    return sum(map(edit_distance, truth["InChI"], predictions["InChI"].astype(str).tolist())) / len(truth)
