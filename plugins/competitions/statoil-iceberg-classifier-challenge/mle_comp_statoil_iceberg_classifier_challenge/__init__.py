"""Statoil/C-CORE Iceberg Classifier Challenge: is it an iceberg or a ship, in a radar image?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_disjoint,
    extract,
    log_loss,
    read_json_objects,
    split,
    write_7z,
    write_csv,
)


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    with tempfile.TemporaryDirectory(dir=private) as folder:
        # as text, which takes a sixth of the memory of 36 million numbers
        images = [_texts(image) for image in _objects(raw, "train.json", Path(folder))]
        train, test = split(images, test_size=0.2)
        asked: list[str] = []  # the keys of the first object of Kaggle's test set, in their order
        for image in _objects(raw, "test.json", Path(folder)):
            asked = asked or list(image)
    ensure_disjoint((image["id"] for image in train), (image["id"] for image in test), "ids of train.json")
    write_7z(public / "train.json.7z", {"train.json": _json(train)})
    write_7z(public / "test.json.7z", {"test.json": _json({key: image[key] for key in asked} for image in test)})
    answers = pd.DataFrame({key: [json.loads(image[key]) for image in test] for key in ("id", "is_iceberg")})
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(is_iceberg=0.5), private / "sample_submission.csv")
    sample = (private / "sample_submission.csv").read_bytes()
    write_7z(public / "sample_submission.csv.7z", {"sample_submission.csv": sample})


def _objects(raw: Path, name: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The images of an archive of the download, one at a time: unpacked, the test set has 1.5 GB."""
    extract(raw / f"{name}.7z", folder, {f"data/processed/{name}": name})
    keys: set[str] = set()
    for image in read_json_objects(folder / name):
        keys = keys or set(image)
        ensure(set(image) == keys, f"{name}: the objects differ in their keys, as {image.get('id')} shows")
        yield image
    ensure(keys, f"{name} holds no object")


def _texts(image: dict[str, Any]) -> dict[str, str]:
    """Each value as ``json.dump`` writes it, in a tenth of its time."""
    return {key: json.dumps(value) for key, value in image.items()}


def _json(images: Iterable[dict[str, str]]) -> bytes:
    """A list of images as ``json.dump`` writes it."""
    objects = ("{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in image.items()) + "}" for image in images)
    return f"[{', '.join(objects)}]".encode("ascii")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return log_loss(truth["is_iceberg"], predictions["is_iceberg"])
