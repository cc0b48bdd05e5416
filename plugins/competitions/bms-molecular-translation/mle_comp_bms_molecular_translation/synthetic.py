"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_bms_molecular_translation import EXTRA, WATER
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

WIDTH = 16  # of a picture; as many characters are drawn in a row


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """200 molecules times ``size``. The brightness of the pixels spells the InChI, with some noise."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(30, round(200 * size))
    ids = [f"00a{id[3:]}" if place % 10 == 0 else id for place, id in enumerate(hex_ids(count + 3, 12, seed=seed))]
    molecules: dict[str, None] = {}
    while len(molecules) < len(ids):  # a molecule has one picture
        molecules[_name(rng)] = None
    names = list(molecules)
    for place, (id, name) in enumerate(zip(ids, names, strict=True)):
        folder = raw / ("train" if place < count else "test") / id[0] / id[1] / id[2]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{id}.png").write_bytes(encode(_drawn(name, rng), "PNG"))
    table = pd.DataFrame({"image_id": ids, "InChI": names})
    write_csv(table.head(count), raw / "train_labels.csv")
    write_csv(table.tail(3).assign(InChI=WATER), raw / "sample_submission.csv")
    extra = [*(_name(rng) for _ in range(20)), *names[: count // 2]]  # half of them are those of images
    write_csv(pd.DataFrame({"InChI": extra}), raw / EXTRA)


def _name(rng: RandomState) -> str:
    """A chain of carbon atoms in any order, perhaps with oxygen; hydrogen told atom by atom has commas."""
    carbons, oxygens = 6 + rng.randint(12), rng.randint(3)
    formula = f"C{carbons}H{2 * carbons + 2}" + (f"O{oxygens}" if oxygens > 1 else "O" * oxygens)
    chain = "-".join(map(str, rng.permutation(carbons + oxygens) + 1))
    hydrogen = f"/h2-{carbons}H2,1H3" if carbons > 3 else "/h1H3"
    return f"InChI=1S/{formula}/c{chain}{hydrogen}"


def _drawn(name: str, rng: RandomState) -> NDArray[np.uint8]:
    import numpy as np

    rows = -(-len(name) // WIDTH)
    pixels = np.full(rows * WIDTH, 255)
    pixels[: len(name)] = [37 * ord(letter) % 251 for letter in name]  # far apart, so that no two pictures look alike
    noise = rng.randint(-1, 1, pixels.shape)
    return (pixels + noise).clip(0, 255).reshape(rows, WIDTH).astype(np.uint8)
