"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_osic_pulmonary_fibrosis_progression import COLUMNS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import dicom, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Capacity declines along a line, faster in smokers; the scan of a sick patient is brighter."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = []
    for number in rng.permutation(max(24, round(100 * size))):
        patient = f"ID{number:05d}637202{rng.randint(10**6):06d}{rng.randint(10**6):06d}"
        typical, share, smokes = rng.uniform(2500, 4500), rng.uniform(0.5, 1.0), rng.randint(3)
        slope = -2 - 6 * (1 - share) - 2 * smokes  # ml a week
        age, sex = rng.randint(50, 88), ("Male", "Female")[rng.randint(2)]
        status = ("Never smoked", "Ex-smoker", "Currently smokes")[smokes]
        visits = 2 if number == 3 else rng.randint(3, 11)
        first = rng.randint(-5, 15)
        weeks = first + rng.choice(np.arange(70), visits, replace=False)
        if number % 4:  # some patients' visits are not in order
            weeks = np.sort(weeks)
        for week in weeks:
            fvc = round(typical * share + slope * week + rng.normal(scale=40))
            rows.append((patient, week, fvc, 100 * fvc / typical, age, sex, status))
        folder = raw / "train" / patient
        folder.mkdir(parents=True)
        for slice_ in range(1, rng.randint(2, 5)):
            pixels = rng.randint(0, round(2000 - 1500 * share), (16, 16)).astype(np.uint16)
            (folder / f"{slice_}.dcm").write_bytes(dicom(pixels, modality="CT", patient=patient, number=slice_))
    table = pd.DataFrame(rows, columns=COLUMNS)
    write_csv(table, raw / "train.csv")
    # Kaggle's visible test set: copies of patients in train.csv
    shown = table.drop_duplicates("Patient").head(2)
    write_csv(shown, raw / "test.csv")
    ids = (shown["Patient"] + "_0").tolist()
    write_csv(pd.DataFrame({"Patient_Week": ids, "FVC": 2000, "Confidence": 100}), raw / "sample_submission.csv")
    for patient in shown["Patient"]:
        folder = raw / "test" / patient
        folder.mkdir(parents=True)
        (folder / "1.dcm").write_bytes((raw / "train" / patient / "1.dcm").read_bytes())
