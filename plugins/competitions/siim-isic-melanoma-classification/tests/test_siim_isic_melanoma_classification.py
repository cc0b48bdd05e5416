"""SIIM-ISIC Melanoma: records that choose the test set, and files that follow it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from mlecore_testing import Trial

from mlecore.prepare.tfrecords import example, read_records, write_records


def test_two_record_files_choose_the_test_set(trial: Trial, answers: pd.DataFrame) -> None:
    table = pd.read_csv(trial.raw / "train.csv")
    files = [trial.raw / "tfrecords" / f"train{number}-2071.tfrec" for number in ("00", "06")]
    names = [name for file in files for name, _ in read_records(file, "image_name")]
    assert answers["image_name"].tolist() == [name for name in table["image_name"] if name in names]  # in file order
    rest = table["image_name"][~table["image_name"].isin(names)]
    for folder, images in (("test", answers["image_name"]), ("train", rest)):
        for below, suffix in ((folder, ".dcm"), (f"jpeg/{folder}", ".jpg")):
            assert {path.name for path in (trial.public / below).iterdir()} == {f"{i}{suffix}" for i in images}


def test_record_files_are_renumbered(trial: Trial) -> None:
    renamed = {
        "test00-2071": "train00-2071",
        "train00-2071": "train01-2071",
        "train01-2071": "train05-2071",
        "test01-2071": "train06-2071",
        "train02-2071": "train07-2071",
        "train03-2061": "train15-2061",
    }
    public, raw = trial.public / "tfrecords", trial.raw / "tfrecords"
    assert {path.stem for path in public.iterdir()} == set(renamed)
    for new, old in renamed.items():
        assert (public / f"{new}.tfrec").read_bytes() == (raw / f"{old}.tfrec").read_bytes()


def test_an_image_in_two_rows_is_one_file(trial: Trial, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    for folder in ("train", "jpeg/train", "tfrecords"):
        (raw / folder).mkdir(parents=True)
    header = "image_name,patient_id,sex,age_approx,anatom_site_general_challenge,diagnosis,benign_malignant,target\n"
    rows = [f"ISIC_{name},IP_1,,45.0,,unknown,benign,{number % 2}\n" for number, name in enumerate("ABCAB")]
    (raw / "train.csv").write_text(header + "".join(rows))
    for name in "ABC":
        (raw / "train" / f"ISIC_{name}.dcm").write_bytes(b"d")
        (raw / "jpeg" / "train" / f"ISIC_{name}.jpg").write_bytes(b"j")
    for number, name in ((0, "A"), (6, "Z")):  # Z is not in train.csv: it is passed over
        with write_records(raw / "tfrecords" / f"train{number:02d}-2071.tfrec") as write:
            write(example({"image_name": f"ISIC_{name}".encode()}))
    public, private = trial.prepare(raw)
    assert (private / "test.csv").read_text() == "image_name,target\nISIC_A,0\nISIC_A,1\n"
    assert (public / "train.csv").read_text() == header + rows[1] + rows[2] + rows[4]
    assert len(list((public / "train").iterdir())) == 2
