"""Edition v2: training studies keep all of their boxes and segmentations."""

from __future__ import annotations

from pathlib import Path

import mle_comp_rsna_2022_cervical_spine_fracture_detection as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import link_files, read_csv, write_csv


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    train = read_csv(public / "train.csv")[v1.STUDY]
    boxes = read_csv(raw / "train_bounding_boxes.csv")
    (public / "train_bounding_boxes.csv").unlink()
    write_csv(boxes[boxes[v1.STUDY].isin(train)], public / "train_bounding_boxes.csv")
    withheld = {path.name for path in (raw / "segmentations").glob("*.nii")}
    withheld -= {path.name for path in (public / "segmentations").glob("*.nii")}
    names = [f"{study}.nii" for study in train]
    link_files(raw / "segmentations", public / "segmentations", [name for name in names if name in withheld])
