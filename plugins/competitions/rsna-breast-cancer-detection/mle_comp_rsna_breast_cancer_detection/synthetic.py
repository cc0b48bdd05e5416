"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_rsna_breast_cancer_detection import COLUMNS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import dicom, picture, split_positions, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """A bright disc in a mammogram is cancer; the patients' age tells a little, too."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    patients = max(60, round(120 * size))
    numbers = rng.permutation(
        np.r_[rng.permutation(9000)[: patients // 2], 10_000 + rng.permutation(50_000)[:patients]]
    )
    tested = set(split_positions(patients, 0.1, seed=42)[1].tolist())
    sure = {min(tested), max(tested), min(set(range(patients)) - tested)}  # so that both parts have cancer
    rows: list[tuple[object, ...]] = []
    for place, patient in enumerate(numbers[:patients].tolist()):
        (raw / "train_images" / str(patient)).mkdir(parents=True)
        sides = "LR" if rng.rand() < 0.9 or place in sure else "R"
        ill = sides[rng.randint(len(sides))] if place in sure or rng.rand() < 0.2 else ""
        age = None if rng.rand() < 0.05 else float(rng.randint(60, 90) if ill else rng.randint(35, 75))
        site, implant, machine = 1 + place % 2, int(rng.rand() < 0.05), int(rng.choice([21, 29, 48, 170]))
        density = rng.choice(np.array(["A", "B", "C", "D", None], dtype=object))
        for side in sides:
            cancer = int(side == ill)
            invasive = cancer * rng.randint(2)
            level = None if rng.rand() < 0.4 else (0.0 if cancer else float(rng.randint(0, 3)))
            for view in ("CC", "MLO", "AT")[: 2 + (rng.rand() < 0.1)]:
                image = 100_000_000 + len(rows) * 7919 % 899_999_999
                known = (site, patient, image, side, view, age)
                told = (cancer, cancer or int(rng.rand() < 0.05), invasive, level, implant, density, machine)
                rows.append((*known, *told, bool(level == 0 and not cancer)))
                pixels = picture(rng, cancer)[:, :, 0].astype(np.uint16) * 16
                data = dicom(pixels, modality="MG", patient=str(patient))
                (raw / "train_images" / str(patient) / f"{image}.dcm").write_bytes(data)
    write_csv(pd.DataFrame(rows, columns=COLUMNS), raw / "train.csv")
    (raw / "test_images" / "10008").mkdir(parents=True)  # Kaggle's few examples
    (raw / "test_images" / "10008" / "68070693.dcm").write_bytes(data)
    write_csv(pd.DataFrame({"patient_id": [10008], "prediction_id": "10008_L"}), raw / "test.csv")
    write_csv(pd.DataFrame({"prediction_id": ["10008_L"], "cancer": 0.02}), raw / "sample_submission.csv")
