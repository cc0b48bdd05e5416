"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mle_comp_dog_breed_identification import BREEDS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_csv


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Of six breeds only, so that even a small set has several photographs of each."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    labelled = max(80, round(300 * size))
    ids = hex_ids(labelled + 5, 32, seed=seed)
    kinds = rng.randint(0, 6, labelled + 5)
    breeds = [BREEDS[23 * kind] for kind in kinds]
    write_csv(pd.DataFrame({"id": ids[:labelled], "breed": breeds[:labelled]}), raw / "labels.csv")
    unlabelled = pd.DataFrame({"id": ids[labelled:], **dict.fromkeys(BREEDS, 1 / 120)})
    write_csv(unlabelled, raw / "sample_submission.csv")
    for folder in ("train", "test"):
        (raw / folder).mkdir()
    for number, (image, kind) in enumerate(zip(ids, kinds, strict=True)):
        photograph = encode(picture(rng, int(kind), *[(40, 32), (32, 40)][number % 2]), "JPEG")
        (raw / ("train" if number < labelled else "test") / f"{image}.jpg").write_bytes(photograph)
