"""Herbarium 2022: which North American species of plant is on a herbarium sheet?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    file_names,
    link_files,
    macro_f1,
    read_json,
    split_pictures,
    with_pictures,
    write_csv,
    write_json,
)

if TYPE_CHECKING:
    from mlecore_toolkit.prepare.coco import Pair


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    metadata = read_json(raw / "train_metadata.json")
    train, test = split_pictures(metadata, test_size=0.2, id="image_id")

    numbered = _numbered(train)
    new = [image["file_name"] for _, image in numbered]
    link_files(raw / "train_images", public / "train_images", file_names(train, new.__getitem__))
    write_json(with_pictures(metadata, numbered), public / "train_metadata.json", indent=4, sort_keys=True)

    names = file_names(test, lambda number: f"{number // 1000:03}/test-{number:06}.jpg")
    link_files(raw / "train_images", public / "test_images", names)
    images = [
        {**image, "image_id": str(number), "file_name": names[image["file_name"]]}
        for number, (_, image) in enumerate(test)
    ]
    write_json(images, public / "test_metadata.json", indent=4, sort_keys=True)

    species = [annotation["category_id"] for annotation, _ in test]
    answers = pd.DataFrame({"Id": range(len(test)), "Predicted": species})
    write_csv(answers, private / "answers.csv")
    write_csv(answers.assign(Predicted=42), public / "sample_submission.csv")


def _numbered(pairs: list[Pair]) -> list[Pair]:
    """With new names: category 3's first picture becomes 000/03/00003__001.jpg."""
    seen: Counter[int] = Counter()
    numbered = []
    for annotation, image in pairs:
        kind = annotation["category_id"]
        seen[kind] += 1
        name = f"{kind:05}__{seen[kind]:03}"
        file = f"{kind // 100:03}/{kind % 100:02}/{name}.jpg"
        numbered.append(({**annotation, "image_id": name}, {**image, "image_id": name, "file_name": file}))
    return numbered


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return macro_f1(truth["Predicted"], predictions["Predicted"])
