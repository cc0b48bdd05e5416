"""Synthetic data in the form of the download: small locations, scattered over the list."""

from __future__ import annotations

import json
from pathlib import Path

from mle_comp_iwildcam_2020_fgvc7 import DETECTIONS, TEST, TRAIN
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import encode, hex_ids, picture, split_positions

KINDS = {0: "empty", 2: "tayassu pecari", 71: "panthera pardus", 675: "équidé"}


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    counts = np.maximum(1, rng.randint(1, 13, 30) * size).astype(int)
    # the first pick is too small, or too large: both loops have something to move
    counts[split_positions(30, test_size=0.22)[1]] = max(1, round((2 if seed % 2 else 18) * size))
    places = rng.permutation(np.repeat(np.arange(30) + 100, counts)).tolist()
    ids = [f"{id[:8]}-{id[8:12]}-11e8-a6a3-{id[12:]}" for id in hex_ids(len(places), 24, seed=seed)]
    annotations, images = [], []
    (raw / "train").mkdir()
    for number, (id, place) in enumerate(zip(ids, places, strict=True)):
        kind = list(KINDS)[rng.randint(4)]
        (raw / "train" / f"{id}.jpg").write_bytes(encode(picture(rng, kind % 11, 40, 32), "JPEG"))
        annotations.append({"count": 1, "image_id": id, "id": f"a{number}x", "category_id": kind})
        images.append({"seq_num_frames": 1, "location": place, "datetime": "2013-06-05 05:44:19.000", "id": id})
        images[-1] |= {"frame_num": 0, "seq_id": f"s{number}q", **({"height": 32} if number % 5 else {})}
    categories = [{"id": kind, "name": name} | ({"count": 7} if kind else {}) for kind, name in KINDS.items()]
    info = {"year": 2020, "description": "synthetic"}
    train = {"annotations": annotations, "images": images, "categories": categories, "info": info}
    others = [{"id": kind, "name": name.upper()} for kind, name in KINDS.items()]
    test = {"images": [], "categories": others, "info": {**info, "part": "test"}}
    detections = {"images": [{"id": id, "detections": []} for id in ids], "info": {}}
    for name, value in ((TRAIN, train), (TEST, test), (DETECTIONS, detections)):
        (raw / name).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
