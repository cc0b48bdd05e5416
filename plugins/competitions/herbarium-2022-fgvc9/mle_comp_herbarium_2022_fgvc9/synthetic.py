"""Synthetic data in the form of the download."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, picture

SPECIMENS = {120: 2, 3: 7, 15504: 8, 99: 11, 0: 20, 10000: 30, 42: 40}  # species: how many, at size 1


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    counts = [max(2, round(count * size)) for count in SPECIMENS.values()]
    seen: Counter[int] = Counter()
    annotations, images = [], []
    for kind in rng.permutation(np.repeat(list(SPECIMENS), counts)).tolist():
        seen[kind] += 1
        image = f"{kind:05}__{seen[kind]:03}"
        name = f"{kind // 100:03}/{kind % 100:02}/{image}.jpg"
        target = raw / "train_images" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(encode(picture(rng, kind, 32, 48), "JPEG"))
        annotations.append({"genus_id": kind // 100, "institution_id": 1, "category_id": kind, "image_id": image})
        images.append({"image_id": image, "file_name": name, "license": 0})
    genera = sorted({kind // 100 for kind in SPECIMENS})
    metadata = {
        "annotations": annotations,
        "images": images,
        "categories": [
            {
                "category_id": kind,
                "scientificName": f"Abies no{kind} Müll.",
                "family": "Pinaceae",
                "genus": f"Genus {kind // 100}",
                "species": f"no{kind}",
                "authors": "Müll.",
            }
            for kind in SPECIMENS
        ],
        "genera": [{"genus_id": genus, "genus": f"Genus {genus}"} for genus in genera],
        "distances": [
            {"genus_id_x": x, "genus_id_y": y, "distance": rng.uniform(1, 700)} for x in genera for y in genera if x < y
        ],
        "licenses": [{"id": 0, "name": "CC BY 4.0", "url": ""}],
        "institutions": [{"institution_id": 1, "collectionCode": "NY"}],
    }
    (raw / "train_metadata.json").write_text(json.dumps(metadata, ensure_ascii=False), encoding="utf-8")
