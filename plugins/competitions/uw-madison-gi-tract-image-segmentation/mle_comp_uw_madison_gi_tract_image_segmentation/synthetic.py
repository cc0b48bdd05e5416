"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, encode_mask, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

_ORGANS = ["large_bowel", "small_bowel", "stomach"]
_SIZES = [(12, 10), (10, 10), (11, 14)]  # width, height


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """An organ is a box of its own brightness. Days sort differently as text and as numbers."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    rows = []
    for number in range(max(12, round(24 * size))):
        case = f"case{2 + 3 * number}"
        days = (
            [2, 10, 20, 9, 101, 33][: 6 - number % 2]
            if number % 4 < 2
            else [int(day) for day in rng.permutation(30)[:2]]
        )
        for day in rng.permutation(days):
            scans = raw / "train" / case / f"{case}_day{day}" / "scans"
            scans.mkdir(parents=True)
            width, height = _SIZES[(number + int(day)) % 3]
            blank = len(days) == 2 and number % 3 == 0 and day == days[0]  # a day without any organ
            for place in range(1, 4):
                masks = _organs(rng, height, width) * (not blank and place != 3)
                pixels = rng.randint(0, 40, (height, width)) + sum(200 * (i + 1) * m for i, m in enumerate(masks))
                name = f"slice_{place:04d}_{width}_{height}_1.50_1.50.png"
                (scans / name).write_bytes(encode(pixels.astype("uint16"), "PNG"))
                rows += [
                    (f"{case}_day{day}_slice_{place:04d}", organ, encode_mask(mask, "columns"))
                    for organ, mask in zip(_ORGANS, masks, strict=True)
                ]
    (raw / "train" / case / f"{case}_day77" / "scans").mkdir(parents=True)  # a day without rows
    (raw / "train" / case / f"{case}_day77" / "scans" / name).write_bytes(encode(pixels.astype("uint16"), "PNG"))
    write_csv(pd.DataFrame(rows, columns=["id", "class", "segmentation"]), raw / "train.csv")
    write_csv(pd.DataFrame(columns=["id", "class", "predicted"]), raw / "sample_submission.csv")


def _organs(rng: RandomState, height: int, width: int) -> NDArray[np.uint16]:
    """(organ, row, column); organs do not overlap, and some are absent."""
    import numpy as np

    masks = np.zeros((3, height, width), dtype=np.uint16)
    for organ in range(3):
        if rng.rand() < 0.75:
            top, left = rng.randint(0, height - 3), 3 * organ
            masks[organ, top : top + rng.randint(2, 7), left : left + rng.randint(1, 4)] = 1
    return masks
