"""Synthetic data in the form of the download."""

from __future__ import annotations

import gzip
import json
import tarfile
import tempfile
from pathlib import Path

from mle_comp_inaturalist_2019_fgvc6 import PHOTOGRAPHS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, write_tar

FEW = {7: 1, 400: 2, 12: 3, 1009: 4}  # species: photographs
MANY = {0: 5, 654: 9, 33: 17, 101: 40, 500: 50}  # times the size
GROUPS = ["Plants", "Birds", "Insects"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    counts = FEW | {kind: max(count, round(count * size)) for kind, count in MANY.items()}
    kinds = rng.permutation(np.repeat(list(counts), list(counts.values()))).tolist()
    labelled = len(kinds)
    kinds += rng.choice(list(counts), 5).tolist()  # for val
    ids = rng.permutation(len(kinds)).tolist()
    annotations, images = [], []
    with tempfile.TemporaryDirectory(dir=raw) as folder:
        for number, (kind, id, name) in enumerate(zip(kinds, ids, hex_ids(len(kinds), 32, seed=seed), strict=True)):
            path = f"{PHOTOGRAPHS}/{GROUPS[kind % 3]}/{kind}/{name}.jpg"
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(encode(picture(rng, kind % 13, 40, 32), "JPEG"))
            annotations.append({"id": number, "image_id": id, "category_id": kind})
            images.append({"id": id, "width": 40, "height": 32, "file_name": path, "license": 3})
            images[-1]["rights_holder"] = f"José Nº {number}"
        files = {image["file_name"]: image["file_name"] for image in sorted(images, key=lambda i: str(i["file_name"]))}
        write_tar(Path(folder), Path(folder, "tar"), files)
        with (raw / f"{PHOTOGRAPHS}.tar.gz").open("wb") as file, gzip.GzipFile("", "wb", 1, file, 0) as packed:
            packed.write(Path(folder, "tar").read_bytes())
    taxa = ["kingdom", "phylum", "class", "order", "family", "genus"]
    rest = {
        "info": {"year": 2019, "description": "synthetic"},
        "licenses": [{"id": 3, "name": "CC BY-NC", "url": ""}],
        "categories": [{"id": kind, "name": f"f{kind}", **dict.fromkeys(taxa, f"t{kind // 20}")} for kind in counts],
    }
    for name, part in (("train2019.json", slice(labelled)), ("val2019.json", slice(labelled, None))):
        metadata = {**rest, "images": images[part], "annotations": annotations[part]}
        (raw / name).write_text(json.dumps(metadata, ensure_ascii=False), encoding="utf-8")
    with tarfile.open(raw / "test2019.tar.gz", "w"):
        pass
