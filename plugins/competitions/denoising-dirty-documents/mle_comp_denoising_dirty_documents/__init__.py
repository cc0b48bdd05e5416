"""Denoising Dirty Documents: give back the clean page under coffee stains, folds and footprints."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore.metrics import rmse
from mlecore.prepare import ZipWriter, encode, ensure, extract, members, open_zip, split
from mlecore.prepare.threads import in_threads
from mlecore.prepare.zips import find
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

NUMBERS = [number for number in range(1, 217) if number % 3 != 1]  # Kaggle kept every third page for its own test


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    noisy, clean = members(raw / "train.zip"), members(raw / "train_cleaned.zip")
    pages = _pages(noisy, "train")
    odd = set(pages).symmetric_difference(_pages(clean, "train_cleaned"))
    ensure(not odd, f"train.zip and train_cleaned.zip hold different pages: {', '.join(sorted(odd)[:3])}")
    _, test = split(pages, test_size=0.2)
    moved = {f"train/{page}": f"test/{page}" for page in test}
    secret = {f"train_cleaned/{page}" for page in test}
    kept = {name: name for name in clean if name not in secret}
    with open_zip(raw / "train_cleaned.zip") as archive, ThreadPoolExecutor() as pool:
        unpacking = [
            pool.submit(extract, raw / "train.zip", public, {name: moved.get(name, name) for name in noisy}),
            pool.submit(extract, raw / "train_cleaned.zip", public, kept),
        ]
        pixels = in_threads(partial(_pixels, archive), sorted(test))
        with (private / "answers.csv").open("xb") as answers, (public / "sampleSubmission.csv").open("xb") as sample:
            for file in (answers, sample):
                file.write(b"id,value\n")
            for truth, white in pixels:
                answers.write(truth)
                sample.write(white)
        for done in unpacking:
            done.result()


def _pages(names: list[str], folder: str) -> list[str]:
    """Those right in ``folder``, sorted as text."""
    return sorted({match[1] for name in names if (match := re.fullmatch(rf"{folder}/([^/]*\.png)", name))})


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "answers.csv", ["id", "value"])
    truth, guess = aligned(submission, answers, on="id", columns=["value"])
    return rmse(truth["value"], numbers(guess, "value", from_text=True))


def _pixels(archive: ZipFile, page: str) -> tuple[memoryview, memoryview]:
    """A page's lines in the answers and in the sample."""
    import numpy as np

    name = page.removesuffix(".png")
    ensure(not set(name) & set(',"\r\n'), f"{archive.filename}: {page!r} is no name for a page")
    grey = _grey(archive, f"train_cleaned/{page}")
    values = np.array([f"{value / 255.0!r}\n".encode() for value in range(256)])
    return _lines(name, values[grey]), _lines(name, np.full(grey.shape, b"1\n"))


def _lines(name: str, values: NDArray[np.bytes_]) -> memoryview:
    """``<name>_<row>_<column>,<value>`` of each pixel, row by row, the line's end being part of the value.

    All lines get one width, which numpy fills in at once, and lose its padding at the end: a tenth of the time of a
    DataFrame and ``to_csv``.
    """
    import numpy as np

    height, width = values.shape
    rows = np.array([f"{name}_{row}_".encode() for row in range(1, height + 1)])
    columns = np.array([f"{column},".encode() for column in range(1, width + 1)])
    lines = np.empty(values.shape, dtype=[("row", rows.dtype), ("column", columns.dtype), ("value", values.dtype)])
    lines["row"], lines["column"], lines["value"] = rows[:, None], columns, values
    padded = lines.ravel().view(np.uint8)
    text: NDArray[np.uint8] = padded[padded != 0]
    return text.data


def _grey(archive: ZipFile, member: str) -> NDArray[np.uint8]:
    """Grey values of a picture of any kind, (height, width)."""
    import numpy as np
    from PIL import Image, UnidentifiedImageError

    content = archive.read(find(archive, member))
    try:
        return np.asarray(Image.open(BytesIO(content)).convert("L"))
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise DataError(f"{archive.filename}: {member} cannot be read as a picture: {error}") from None


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """144 pages with the real names. ``size=500`` gives the real 540 x 258 and 540 x 420, others in proportion."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    scale = (max(1, size) / 500) ** 0.5  # of width and height
    with ZipWriter(raw / "train.zip") as noisy, ZipWriter(raw / "train_cleaned.zip") as cleaned:
        noisy.add("train/", b"")
        cleaned.add("train_cleaned/", b"")
        for number in NUMBERS:
            page = _page(rng, round(540 * scale), round((258 if number <= 72 else 420) * scale))
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
