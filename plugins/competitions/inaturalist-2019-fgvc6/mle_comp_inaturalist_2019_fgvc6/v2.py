"""Edition v2: new ids and names for test photographs, those of `val2019.json` too, and archives as they are named."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import mle_comp_inaturalist_2019_fgvc6 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    accuracy,
    ensure,
    extract,
    file_names,
    new_names,
    read_json,
    refuse,
    safe_name,
    shuffled,
    write_renamed,
    write_tar,
)

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 2
SPECIES = 1010


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    metadata, train, test = v1.read_parts(raw)
    validation = read_json(raw / "val2019.json")
    ensure("images" in validation, "val2019.json has no images")
    labelled, extra, asked = list(file_names(train)), _files(validation["images"]), list(file_names(test))
    taken = [f"test2019/{PurePosixPath(name).name}" for name in [*labelled, *extra, *asked]]
    names = new_names(asked, f"test2019/{'#' * 32}.jpg", seed=SEED, taken=taken)
    ids = shuffled((image["id"] for _, image in test), seed=SEED)
    write_renamed(names, private / "names.csv")
    write_renamed(ids, private / "ids.csv")
    renamed = [
        (annotation, {**image, "id": ids[image["id"]], "file_name": names[image["file_name"]]})
        for annotation, image in test
    ]
    v1.write_tables(raw, public, private, metadata, train, sorted(renamed, key=lambda pair: int(pair[1]["id"])))
    with tempfile.TemporaryDirectory(dir=private) as scratch:
        source = raw
        if not (raw / v1.PHOTOGRAPHS).is_dir():
            source = Path(scratch)
            extract(raw / f"{v1.PHOTOGRAPHS}.tar.gz", source)
        there = [name for name in extra if (source / name).is_file()]  # not every download has them
        write_tar(source, public / f"{v1.PHOTOGRAPHS}.tar", {name: name for name in [*labelled, *there]})
        write_tar(source, public / "test2019.tar", names)


def _files(images: Sequence[Mapping[str, Any]]) -> list[str]:
    return [safe_name(image["file_name"]) for image in images]


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    examine(predictions)
    return 1 - accuracy(truth["predicted"], predictions["predicted"])


@hookimpl
def examine(predictions: DataFrame) -> None:
    """Each cell becomes its first category."""
    import numpy as np

    first = [_first(cell) for cell in predictions["predicted"].astype(object)]
    bad = np.fromiter((number is None for number in first), bool, len(first))
    refuse(predictions, "predicted", f"category ids from 0 to {SPECIES - 1}, such as 71, or 71 108 339", bad)
    predictions["predicted"] = np.array(first, dtype=np.int64)


def _first(cell: Any) -> int | None:
    """The category that a cell names first, perhaps as ``71.0``; None if it names none."""
    if isinstance(cell, bool):
        return None
    try:
        number = float(cell.split(maxsplit=1)[0] if isinstance(cell, str) else cell)
    except (ValueError, IndexError):
        return None
    return int(number) if 0 <= number < SPECIES and number.is_integer() else None
