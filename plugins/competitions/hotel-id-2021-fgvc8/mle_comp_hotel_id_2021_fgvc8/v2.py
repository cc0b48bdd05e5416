"""Edition v2: test photographs have new names, and predictions are lists of whole numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_hotel_id_2021_fgvc8 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, link_files, map_at_k, new_names, refuse, rename_rows, write_renamed

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 2
_HOTELS = re.compile(r"[ ]*[0-9]+(?:[ ]+[0-9]+)*[ ]*")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = v1.read_parts(raw)
    names = new_names(test["image"], "################.jpg", seed=SEED, taken=train["image"])
    write_renamed(names, private / "names.csv")
    v1.write(raw, public, private, train, rename_rows(test, "image", names))
    places = dict(zip(test["image"], v1.paths(test), strict=True))
    link_files(raw / "train_images", public / "test_images", {places[old]: new for old, new in names.items()})


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    examine(predictions)
    return map_at_k(truth["hotel_id"].tolist(), predictions["hotel_id"].tolist(), 5)


@hookimpl
def examine(predictions: DataFrame) -> None:
    import numpy as np

    cells = predictions["hotel_id"].tolist()
    bad = np.fromiter((_HOTELS.fullmatch(cell) is None for cell in cells), bool, len(cells))
    refuse(predictions, "hotel_id", "hotel ids, whole numbers with blanks between, such as 36363 53586", bad)
