"""Synthetic data in the form of the download."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, write_7z

if TYPE_CHECKING:
    from numpy.random import RandomState

_SIDE = 75
_MOST = 1604  # labelled images, as many as the real ones: unpacked, each takes 100 KB


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """A ship is small and bright, an iceberg larger and duller; wind and angle change the background."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = min(max(60, round(100 * size)), _MOST)
    images = [_image(rng, id, number % 2) for number, id in enumerate(hex_ids(count + 3, 8, seed=seed))]
    labelled = [images[place] for place in rng.permutation(count)]
    # test.json has its keys in another order, and no labels
    unlabelled = [{key: image[key] for key in ("id", "inc_angle", "band_1", "band_2")} for image in images[count:]]
    for name, part in (("train", labelled), ("test", unlabelled)):
        write_7z(raw / f"{name}.json.7z", {f"data/processed/{name}.json": json.dumps(part).encode()})
    rows = "".join(f"{image['id']},0.5\n" for image in unlabelled)
    sample = f"id,is_iceberg\n{rows}".encode()
    write_7z(raw / "sample_submission.csv.7z", {"data/processed/sample_submission.csv": sample})


def _image(rng: RandomState, id: str, iceberg: int) -> dict[str, Any]:
    """Rows of the background repeat, which keeps the archives small."""
    import numpy as np

    y, x = np.ogrid[:_SIDE, :_SIDE]
    centre, radius = rng.randint(25, 50, 2), rng.randint(6, 11) if iceberg else rng.randint(3, 8)
    there = (y - centre[0]) ** 2 + (x - centre[1]) ** 2 <= radius**2
    bands = {}
    for band, base in (("band_1", -22), ("band_2", -28)):
        row = np.round(rng.normal(base, 2, _SIDE), 4)
        row[:3] = [base, 1e-05, -30.0]  # numbers that are written in another way
        bands[band] = np.where(there, np.round(rng.normal(-3 if iceberg else 6, 3), 6), row).ravel().tolist()
    angle: Any = "na" if rng.rand() < 0.1 else round(rng.uniform(30, 45), 4)
    return {"id": id, **bands, "inc_angle": angle, "is_iceberg": iceberg}
