"""Synthetic data in the form of the download: few species of few specimens, more of the others with the size."""

from __future__ import annotations

import json
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import labelled_pictures

FEW = {120: 1, 3: 2, 15504: 3, 99: 4}  # species: specimens
MANY = {0: 5, 100: 6, 7: 11, 10000: 25, 9999: 30, 101: 40}  # times the size


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    from numpy.random import RandomState

    counts = FEW | {species: max(1, round(count * size)) if size > 1 else count for species, count in MANY.items()}
    source = raw / "nybg2020" / "train"
    annotations, images = labelled_pictures(RandomState(seed), source, counts)
    metadata = {
        "info": {"year": 2020, "description": "synthetic"},
        "images": images,
        "categories": [
            {"id": kind, "name": f"Espèce {kind}", "family": "Asteraceae", "genus": f"Genus {kind // 3}"}
            for kind in sorted(counts)
        ],
        "annotations": [{**annotation, "region_id": 1} for annotation in annotations],
        "regions": [{"id": 1, "name": "Québec"}],
        "licenses": [{"id": 0, "name": "CC BY-NC-SA 4.0", "url": ""}],
    }
    (source / "metadata.json").write_text(json.dumps(metadata, ensure_ascii=False), encoding="utf-8")
