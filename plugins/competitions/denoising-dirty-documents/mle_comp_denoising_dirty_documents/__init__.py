"""Denoising Dirty Documents: give back the clean page under coffee stains, folds and footprints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, extract, members, open_zip, rmse, split
from mlecore_toolkit.prepare.threads import in_threads
from mlecore_toolkit.prepare.zips import find

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    noisy, clean = members(raw / "train.zip"), members(raw / "train_cleaned.zip")
    pages = all_pages(noisy, clean)
    _, test = split(pages, test_size=0.2)
    write(raw, public, private, noisy, clean, test)


def all_pages(noisy: list[str], clean: list[str]) -> list[str]:
    """The pages that both archives hold, sorted as text."""
    pages = _pages(noisy, "train")
    odd = set(pages).symmetric_difference(_pages(clean, "train_cleaned"))
    ensure(not odd, f"train.zip and train_cleaned.zip hold different pages: {', '.join(sorted(odd)[:3])}")
    return pages


def write(raw: Path, public: Path, private: Path, noisy: list[str], clean: list[str], test: Sequence[str]) -> None:
    """All that prepared data hold; ``noisy``, ``clean``: the archives' members, ``test``: pages such as 7.png."""
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
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return rmse(truth["value"], predictions["value"])


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
    from PIL import Image

    content = archive.read(find(archive, member))
    try:
        return np.asarray(Image.open(BytesIO(content)).convert("L"))
    except Exception as error:  # Pillow raises some ten types for hostile bytes
        raise DataError(f"{archive.filename}: {member} cannot be read as a picture: {error}") from None
