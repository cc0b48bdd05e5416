"""Synthetic data in the form of the download."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_rsna_2022_cervical_spine_fracture_detection import BOX, STUDY, VERTEBRAE
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import dicom, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIDE = 28  # of a slice, which shows the seven vertebrae in a row


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """A vertebra is grey, and has a bright spot where it is fractured. A part of the studies is annotated."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(80, round(200 * size))
    studies = [f"1.2.826.0.1.3680043.{number}" for number in rng.permutation(20 * count)[:count]]
    broken = rng.rand(count, len(VERTEBRAE)) < 0.12
    table = pd.DataFrame({STUDY: studies, "patient_overall": broken.any(axis=1).astype(int)})
    table[VERTEBRAE] = broken.astype(int)
    write_csv(table, raw / "train.csv")
    boxes: list[tuple[object, ...]] = []
    (raw / "segmentations").mkdir()
    for number, study in enumerate(studies):
        folder = raw / "train_images" / study
        folder.mkdir(parents=True)
        pixels = _slice(broken[number], rng.randint(0, 30, (SIDE, SIDE)))
        for place in (1, 2):
            (folder / f"{place}.dcm").write_bytes(dicom(pixels + np.uint16(place), modality="CT", number=place))
        if number < count // 4:
            for place in range(rng.randint(1, 4)):
                boxes.append((study, *(rng.rand(2) * SIDE).round(5), *(1 + 3 * rng.rand(2)).round(5), 1 + place))
        if count // 8 <= number < count // 8 + 3 * count // 16:  # half of those with boxes, and others
            labels = np.repeat(np.arange(1, 8, dtype=np.uint8), 4)[:, None].repeat(SIDE, 1)
            (raw / "segmentations" / f"{study}.nii").write_bytes(_nifti(labels[:, :, None]))
    write_csv(
        pd.DataFrame(boxes, columns=[STUDY, *BOX]).sample(frac=1, random_state=rng), raw / "train_bounding_boxes.csv"
    )
    stub = pd.DataFrame({"row_id": ["1.2.826.0.1.1_C1"], STUDY: "1.2.826.0.1.1", "prediction_type": "C1"})
    write_csv(stub, raw / "test.csv")  # Kaggle's hidden test set
    write_csv(stub[["row_id"]].assign(fractured=0.5), raw / "sample_submission.csv")


def _slice(broken: NDArray[np.bool_], noise: NDArray[np.int_]) -> NDArray[np.uint16]:
    import numpy as np

    pixels = noise.astype(np.uint16) + np.uint16(100)
    for place, fractured in enumerate(broken):
        if fractured:
            pixels[4 * place : 4 * place + 4, 10:18] += np.uint16(800)
    return pixels


def _nifti(voxels: NDArray[np.uint8]) -> bytes:
    """A small NIfTI-1 file of labels (three dimensions), in voxels of 1 mm."""
    header = bytearray(348)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *voxels.shape, 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 2, 8)  # uint8, 8 bits
    struct.pack_into("<8f", header, 76, *[1.0] * 8)
    struct.pack_into("<2f", header, 108, 352.0, 1.0)  # where voxels begin, and their scale
    struct.pack_into("<4s", header, 344, b"n+1")
    return bytes(header) + bytes(4) + voxels.tobytes(order="F")
