"""Synthetic data in the form of the download."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, encode

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

NUMBERS = [number for number in range(1, 217) if number % 3 != 1]  # Kaggle kept every third page for its own test
COPIES = 4  # of a clean page under other numbers, each soiled anew
ODD = (6, 8, 26)  # pages that are no grey pictures; of these there are no copies


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """144 pages with the real names, of 39 texts. ``size=500`` gives the real 540 x 258 and 540 x 420."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    scale = (max(1, size) / 500) ** 0.5  # of width and height
    with ZipWriter(raw / "train.zip") as noisy, ZipWriter(raw / "train_cleaned.zip") as cleaned:
        noisy.add("train/", b"")
        cleaned.add("train_cleaned/", b"")
        drawn: dict[tuple[int, bool], NDArray[np.uint8]] = {}
        for place, number in enumerate(NUMBERS):
            text = -number if number in ODD else place // COPIES, number <= 72
            if text not in drawn:
                drawn[text] = _page(rng, round(540 * scale), round((258 if number <= 72 else 420) * scale))
            page = drawn[text]
            noisy.add(f"train/{number}.png", encode(_soiled(rng, page), "PNG"))
            cleaned.add(f"train_cleaned/{number}.png", _png(page, number))
    with ZipWriter(raw / "test.zip") as unlabelled:
        for number in (1, 4, 7):
            unlabelled.add(f"test/{number}.png", encode(_soiled(rng, _page(rng, 24, 12)), "PNG"))
    with ZipWriter(raw / "sampleSubmission.csv.zip") as sample:
        sample.add("sampleSubmission.csv", b"id,value\n1_1_1,1\n1_1_2,1\n1_1_3,1\n")


def _page(rng: RandomState, width: int, height: int) -> NDArray[np.uint8]:
    """White paper with lines of dark strokes, whose ends are lighter."""
    import numpy as np

    page = np.full((height, width), 255, dtype=np.uint8)
    for top in range(2, height - 5, 8):
        strokes = np.where(rng.rand(5, width) < 0.5, 0, rng.randint(0, 240, (5, width)))
        letters = np.repeat(rng.rand(width // 3 + 1) < 0.6, 3)[:width] & (rng.rand(5, width) < 0.7)
        page[top : top + 5][letters] = strokes[letters]
    return page


def _soiled(rng: RandomState, page: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Paper no longer white, with the rings of two cups; ink stays darker than stains."""
    import numpy as np

    height, width = page.shape
    rows, columns = np.ogrid[:height, :width]
    light = rng.uniform(0.75, 0.9) + 0.05 * rng.rand(height, width)
    for _ in range(2):
        distance = np.hypot(rows - rng.uniform(0, height), columns - rng.uniform(0, width))
        light -= 0.3 * (np.abs(distance - rng.uniform(0.1, 0.4) * width) < 0.04 * width)
    return np.asarray(light * (60 + page * (195 / 255)), dtype=np.uint8)


def _png(page: NDArray[np.uint8], number: int) -> bytes:
    """A clean page as a grey PNG; three that become test pages are in colour, of 1 bit, and with a palette."""
    from PIL import Image

    image: Any = Image.fromarray(page)
    if number == 6:
        image = Image.merge("RGB", [image, image.point([min(255, v + 10) for v in range(256)]), image])
    elif number == 8:
        image = image.point([0] * 128 + [255] * 128, "1")
    elif number == 26:
        image = image.quantize(16)
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
