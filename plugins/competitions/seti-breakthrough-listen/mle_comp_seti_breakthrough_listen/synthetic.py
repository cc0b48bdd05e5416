"""Synthetic data in the form of the download: cadences of a few pixels, some with a drifting line in panels of A."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray
    from pandas import DataFrame

HEIGHT, WIDTH = 24, 16  # really 273, 256


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    import pandas as pd

    rng = np.random.RandomState(seed)
    rows = max(100, round(400 * size))
    targets = rng.permutation(np.arange(rows) % 4 == 0).astype(int)
    table = pd.DataFrame({"id": hex_ids(rows, 12, seed=seed), "target": targets})
    tested = np.random.RandomState(0).permutation(rows)[: -(-rows // 10)]
    table.loc[tested[:2], "target"] = [0, 1]  # both classes are in the test part
    write_csv(table, raw / "train_labels.csv")
    _save(raw / "train", table, rng)
    old = pd.DataFrame({"id": hex_ids(4, 12, seed=seed + 1), "target": [0, 1, 1, 0]})
    _save(raw / "old_leaky_data" / "train_old", old, rng)
    again = table.loc[tested[::2]]  # half of the test part was in the earlier version, under other names
    names = hex_ids(len(again), 12, seed=seed + 2)
    for id, name in zip(again["id"], names, strict=True):
        path = _path(raw / "old_leaky_data" / "train_old", name)
        path.write_bytes(_path(raw / "train", id).read_bytes())
    write_csv(pd.concat([old, again.assign(id=names)]), raw / "old_leaky_data" / "train_labels_old.csv")


def _save(folder: Path, table: DataFrame, rng: RandomState) -> None:
    import numpy as np

    for id, target in zip(table["id"], table["target"], strict=True):
        np.save(_path(folder, id), _cadence(rng, target))


def _path(folder: Path, id: str) -> Path:
    path = folder / id[0] / f"{id}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _cadence(rng: RandomState, target: int) -> NDArray[np.float16]:
    """(6, HEIGHT, WIDTH): noise, interference that keeps its frequency in all panels, a needle that drifts in A's."""
    import numpy as np

    panels = rng.normal(0, 1, (6, HEIGHT, WIDTH))
    panels[:, :, rng.randint(WIDTH)] += rng.randint(2) * 3
    if target:
        times = np.arange(HEIGHT)
        for panel in (0, 2, 4):
            panels[panel, times, (times // 2 + panel + rng.randint(WIDTH)) % WIDTH] += 6
    return panels.astype(np.float16)
