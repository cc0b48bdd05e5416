"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_vesuvius_challenge_ink_detection import JUDGED, LEARNT
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, encode_mask, link_tree, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState

SLICES = 8  # of a volume; 65 on Kaggle
INKED = range(3, 6)  # slices in which ink is a little brighter


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Three fragments, whose sides grow with ``size``. The test folder on Kaggle is a copy out of the first."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    side = 30 + round(70 * size**0.5)
    for number, fragment in enumerate([*LEARNT, JUDGED]):
        _fragment(raw / "train" / fragment, fragment, side - 7 * number, side + 5 * number, rng)
    for name in "ab":
        link_tree(raw / "train" / "1" / "surface_volume", raw / "test" / name / "surface_volume")
        (raw / "test" / name / "mask.png").write_bytes((raw / "train" / "1" / "mask.png").read_bytes())
    write_csv(pd.DataFrame({"Id": ["a", "b"], "Predicted": "1 1 5 1"}), raw / "sample_submission.csv")


def _fragment(folder: Path, name: str, height: int, width: int, rng: RandomState) -> None:
    """Letters are crosses. Ink is seen in some slices of the volume, and in the infrared photograph."""
    import numpy as np
    import pandas as pd

    ink = np.zeros((height, width), dtype=bool)
    for _ in range(6):
        y, x = rng.randint(4, height - 4), rng.randint(4, width - 4)
        ink[y - 4 : y + 4, x - 1 : x + 1] = ink[y - 1 : y + 1, x - 4 : x + 4] = True
    ink[5, -2:] = ink[6, :3] = True  # a run over the end of a row
    mask = np.full((height, width), 255, dtype=np.uint8)
    mask[:2, :9] = 0  # no papyrus here
    (folder / "surface_volume").mkdir(parents=True)
    for number in range(SLICES):
        values = rng.normal(30_000 + 200 * number, 2_000, ink.shape) + 4_000 * ink * (number in INKED)
        (folder / "surface_volume" / f"{number:02d}.tif").write_bytes(encode(values.astype(np.uint16), "TIFF"))
    photograph = rng.randint(120, 180, ink.shape) - 80 * ink
    (folder / "ir.png").write_bytes(encode(photograph.astype(np.uint8), "PNG"))
    (folder / "mask.png").write_bytes(encode(mask, "PNG"))
    (folder / "inklabels.png").write_bytes(encode(ink.astype(np.uint8) * 255, "PNG"))
    table = pd.DataFrame({"Id": [name], "Predicted": [encode_mask(ink, "rows")]})
    write_csv(table, folder / "inklabels_rle.csv")
