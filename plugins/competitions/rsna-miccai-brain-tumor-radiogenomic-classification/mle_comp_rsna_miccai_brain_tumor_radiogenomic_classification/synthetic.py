"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_rsna_miccai_brain_tumor_radiogenomic_classification import CASE, TARGET
from mle_comp_rsna_miccai_brain_tumor_radiogenomic_classification.v2 import FAULTY
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import dicom, picture, split_positions, write_csv

SERIES = ("FLAIR", "T1w", "T1wCE", "T2w")


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """The brightness of the tumour, a disc, tells whether its promoter is methylated."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(100, round(120 * size))
    numbers = np.cumsum(rng.randint(1, 4, count + len(FAULTY))) - 1
    cases = [case for case in map("{:05d}".format, numbers) if case not in FAULTY][:count]
    targets = rng.randint(0, 2, count)
    train, test = split_positions(count, 0.1)
    targets[test[:4]] = 0, 1, 0, 1  # both classes are in the test part
    for place, case in zip((test[-1], *train[:2]), FAULTY, strict=True):
        cases[place] = case
    write_csv(pd.DataFrame({CASE: cases, TARGET: targets}), raw / "train_labels.csv")
    for folder, names in (("train", cases), ("test", ["99999"])):  # test: Kaggle's own test set
        for case, target in zip(names, targets, strict=False):
            for series in SERIES:
                (raw / folder / case / series).mkdir(parents=True)
                for number in sorted(rng.permutation(9)[: 1 + rng.randint(2)] + 1):  # with gaps
                    pixels = picture(rng, int(target))[:, :, 1].astype(np.uint16)
                    data = dicom(pixels, modality="MR", patient=case, number=int(number))
                    (raw / folder / case / series / f"Image-{number}.dcm").write_bytes(data)
    write_csv(pd.DataFrame({CASE: ["99999"], TARGET: 0.5}), raw / "sample_submission.csv")
