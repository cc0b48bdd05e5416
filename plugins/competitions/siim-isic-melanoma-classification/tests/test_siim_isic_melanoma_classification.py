"""SIIM-ISIC Melanoma: an image in two rows."""

from __future__ import annotations

from pathlib import Path

from mlecore_testing import Trial
from mlecore_toolkit.prepare.tfrecords import example, write_tfrecords


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
        with write_tfrecords(raw / "tfrecords" / f"train{number:02d}-2071.tfrec") as write:
            write(example({"image_name": f"ISIC_{name}".encode()}))
    public, private = trial.prepare(raw)
    assert (private / "test.csv").read_text() == "image_name,target\nISIC_A,0\nISIC_A,1\n"
    assert (public / "train.csv").read_text() == header + rows[1] + rows[2] + rows[4]
    assert len(list((public / "train").iterdir())) == 2
