"""Edition v2: the test part has the share that was meant, one row for each picture, and new names; JSON without NaN."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mle_comp_iwildcam_2020_fgvc7 as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    ensure,
    ensure_unique,
    link_files,
    new_names,
    read_json,
    write_csv,
    write_json,
    write_renamed,
)

SEED = 2
FORM = "########-####-####-####-############"

Record = Mapping[str, Any]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd
    from numpy.random import RandomState

    known = v1.read_object(raw / v1.TRAIN, ["annotations", "categories", "images", "info"])
    unlabelled = v1.read_object(raw / v1.TEST, ["categories", "images", "info"])
    ensure_unique((image["id"] for image in known["images"]), f"images of {v1.TRAIN}")
    train, test = _parts(known["images"])
    answers = _single_categories(known["annotations"], {image["id"] for image in test})
    ensure(answers, "no test picture has exactly one category")
    test = [image for image in test if image["id"] in answers]

    names = new_names(answers, FORM, seed=SEED, taken=(image["id"] for image in train))
    sequences = new_names(_sequences(test), FORM, seed=SEED + 1, taken=_sequences(train))
    write_renamed(names, private / "names.csv")
    table = pd.DataFrame({"Id": list(names.values()), "Category": [answers[old] for old in names]})
    write_csv(table, private / "answers.csv")
    write_csv(table.assign(Category=RandomState(0).randint(0, 676, size=len(table))), public / "sample_submission.csv")

    kept = {image["id"] for image in train}
    annotations = [annotation for annotation in known["annotations"] if annotation["image_id"] in kept]
    write_json({**known, "annotations": annotations, "images": train}, public / v1.TRAIN)
    write_json({**unlabelled, "images": _renamed(test, names, sequences)}, public / v1.TEST)
    detections = read_json(raw / v1.DETECTIONS)
    ensure("images" in detections, f"{v1.DETECTIONS} has no images")
    seen = [entry for entry in detections["images"] if entry["id"] in kept]
    seen += _renamed([entry for entry in detections["images"] if entry["id"] in names], names, sequences)
    write_json({**detections, "images": seen}, public / v1.DETECTIONS)
    link_files(raw / "train", public / "train", [f"{image['id']}.jpg" for image in train])
    link_files(raw / "train", public / "test", {f"{old}.jpg": f"{new}.jpg" for old, new in names.items()})


def _parts(images: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    import pandas as pd

    locations = pd.Series([image["location"] for image in images])
    parts = v1.places(locations, lambda size: size / len(images))
    of_train, of_test = (set(part) for part in parts)
    train = [image for image in images if image["location"] in of_train]
    return train, [image for image in images if image["location"] in of_test]


def _single_categories(annotations: Iterable[Record], images: set[str]) -> dict[str, int]:
    """The category of each of these pictures that has exactly one."""
    found: dict[str, set[int]] = {}
    for annotation in annotations:
        if annotation["image_id"] in images:
            found.setdefault(annotation["image_id"], set()).add(annotation["category_id"])
    return {id: min(categories) for id, categories in found.items() if len(categories) == 1}


def _sequences(images: Iterable[Record]) -> list[str]:
    return [image["seq_id"] for image in images if "seq_id" in image]


def _renamed(records: Iterable[Record], names: Mapping[str, str], sequences: Mapping[str, str]) -> list[Record]:
    """Test pictures, or what is known of them, in the order of their new names; no text names the old ones."""
    out = []
    for record in records:
        old = record["id"]
        new = {
            key: value.replace(old, names[old]) if isinstance(value, str) else value for key, value in record.items()
        }
        out.append({**new, "seq_id": sequences[record["seq_id"]]} if "seq_id" in record else new)
    return sorted(out, key=lambda record: str(record["id"]))
