"""Synthetic data in the form of the download: more covers than the 5,000 of the test part, of few bytes each."""

from __future__ import annotations

from pathlib import Path

from mle_comp_alaska2_image_steganalysis import ALGORITHMS, TEST_IMAGES
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, picture

SCENES = 40
LONGEST = 1000  # bytes of a picture: a file's size would else tell the algorithm


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """A message is noise, of a strength that tells the algorithm. Scenes repeat, with a number behind the picture."""
    import numpy as np

    rng = np.random.RandomState(seed)
    scenes = [picture(rng, number, 16, 16) // 2 + 40 for number in range(SCENES)]
    count = TEST_IMAGES + max(300, round(600 * size))
    chosen = rng.randint(0, SCENES, count)
    for strength, folder in enumerate(["Cover", *ALGORITHMS]):
        noise = rng.randint(-1, 2, (16, 16, 3)) * strength * 12
        files = [
            encode((scene + noise).clip(0, 255).astype(np.uint8), "JPEG").ljust(LONGEST, b"\0") for scene in scenes
        ]
        (raw / folder).mkdir()
        for number, scene in enumerate(chosen.tolist(), 1):
            (raw / folder / f"{number:05}.jpg").write_bytes(files[scene] + number.to_bytes(4, "big"))
    (raw / "Cover" / "list.txt").write_text("no image")
