"""Synthetic data in the form of the download: few species of few specimens, more of the others with the size."""

from __future__ import annotations

import json
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.prepare import encode, picture

FEW = {120: 1, 3: 2, 15504: 3, 99: 4}  # species: specimens
MANY = {0: 5, 100: 6, 7: 11, 10000: 25, 9999: 30, 101: 40}  # times the size


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    specimens = FEW | {species: max(1, round(count * size)) if size > 1 else count for species, count in MANY.items()}
    species = rng.permutation(np.repeat(list(specimens), list(specimens.values()))).tolist()
    ids = (1000 + rng.permutation(len(species))).tolist()
    source = raw / "train"
    annotations, images = [], []
    for number, (kind, image) in enumerate(zip(species, ids, strict=True)):
        name = f"images/{kind // 100:03}/{kind % 100:02}/{image}.jpg"
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(encode(picture(rng, kind, 32, 48), "JPEG"))
        annotations.append({"id": number, "image_id": image, "category_id": kind, "institution_id": 0})
        images.append({"id": image, "file_name": name, "width": 32, "height": 48, "license": 0})
    metadata = {
        "info": {"year": 2021, "description": "synthetic"},
        "images": images,
        "categories": [
            {"id": kind, "name": f"Espèce {kind}", "family": "Asteraceae", "order": "Asterales"}
            for kind in sorted(specimens)
        ],
        "annotations": annotations,
        "institutions": [{"id": 0, "name": "Jardín Botánico"}],
        "licenses": [{"id": 0, "name": "CC BY-NC-SA 4.0", "url": ""}],
    }
    (source / "metadata.json").write_text(json.dumps(metadata, ensure_ascii=False), encoding="utf-8")
