"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mle_comp_google_research_identify_contrails_reduce_global_warming import BANDS, MASKS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv, write_json

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

HEIGHT, WIDTH, TIMES = 12, 10, 8  # 256, 256 and 8 on Kaggle
LABELLED = 4  # the image of a record that is labelled
COLDER = {"band_11.npy": 2.0, "band_13.npy": 3.0, "band_14.npy": 4.0, "band_15.npy": 6.0}  # kelvins, in a contrail


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """48 records times ``size`` to split, a quarter as many for validation. Contrails are lines of colder pixels."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(12, round(48 * size))
    numbers = np.unique(rng.randint(10**18, 9 * 10**18, 2 * count, dtype=np.int64))
    ids = [str(number) for number in rng.permutation(numbers)[: count + count // 3 + 2]]
    parts = {"train": ids[:count], "validation": ids[count:-2], "test": ids[-2:]}
    for folder, names in parts.items():
        for place, id in enumerate(names):
            mask = _contrail(rng) if place % 4 else np.zeros((HEIGHT, WIDTH), dtype=bool)
            target = raw / folder / id
            target.mkdir(parents=True)
            _write_bands(target, mask, rng)
            if folder != "test":
                np.save(target / MASKS[1], mask[..., None].astype(np.int32))
            if folder == "train":
                np.save(target / MASKS[0], _opinions(mask, rng))
        if folder != "test":
            write_json([_metadata(id, rng) for id in names], raw / f"{folder}_metadata.json")
    sample = pd.DataFrame({"record_id": parts["test"], "encoded_pixels": ["1 1 5 1", "-"]})
    write_csv(sample, raw / "sample_submission.csv")


def _contrail(rng: RandomState) -> NDArray[np.bool_]:
    """A line two pixels wide from the left to the right, and a run over the end of a column."""
    import numpy as np

    mask = np.zeros((HEIGHT, WIDTH), dtype=bool)
    first, last = rng.randint(0, HEIGHT - 1, 2)
    rows = np.round(np.linspace(first, last, WIDTH)).astype(int)
    mask[rows, np.arange(WIDTH)] = mask[rows + 1, np.arange(WIDTH)] = True
    mask[-1, 2] = mask[0, 3] = True
    return mask


def _write_bands(folder: Path, mask: NDArray[np.bool_], rng: RandomState) -> None:
    """Brightness temperatures; a contrail is there in the labelled image and after it."""
    import numpy as np

    for name in BANDS:
        values = rng.normal(270.0, 1.0, (HEIGHT, WIDTH, TIMES))
        values[mask, LABELLED:] -= COLDER.get(name, 0.0)
        np.save(folder / name, values.astype(np.float32))


def _opinions(mask: NDArray[np.bool_], rng: RandomState) -> NDArray[np.int32]:
    """What each of several labellers marked; now and then one saw nothing."""
    import numpy as np

    labellers = 4 + rng.randint(3)
    seen = rng.rand(labellers) < 0.9
    return (mask[..., None, None] & seen).astype(np.int32)


def _metadata(id: str, rng: RandomState) -> dict[str, Any]:
    return {
        "record_id": id,
        "row_min": round(-1e6 * rng.rand(), 4),
        "row_size": round(2004.0 + rng.rand(), 6),
        "col_min": round(1e6 * rng.rand(), 4),
        "col_size": round(2004.0 + rng.rand(), 6),
        "timestamp": 1555449600.0 + 600 * rng.randint(10_000),
        "projection_wkt": 'PROJCRS["unnamed",BASEGEOGCRS["WGS 84 – geodätisch"]]',
    }
