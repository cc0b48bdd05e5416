"""TGS Salt Identification Challenge: which pixels of a seismic image are salt?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    areas,
    ensure,
    ensure_disjoint,
    extract,
    members,
    overlaps,
    read_csv,
    split,
    write_csv,
)
from mlecore_toolkit.submissions.masks import decode_masks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mlecore_toolkit.submissions.masks import Masks

PIXELS = 101 * 101
TOP = "competition_data"


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    archive = raw / f"{TOP}.zip"
    table = read_csv(archive, member=f"{TOP}/train.csv").fillna("")
    folder = f"{TOP}/train/images/"
    images = [name for name in members(archive) if name.startswith(folder) and name.endswith(".png")]
    ensure(len(images) == len(table), f"{archive.name} has {len(images)} images and {len(table)} rows in train.csv")
    train, test = (part[["id", "rle_mask"]].sort_values("id") for part in split(table, test_size=0.25))
    ensure_disjoint(train["id"], test["id"], "ids of train.csv")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "test.csv")
    write_csv(test.assign(rle_mask="1 1"), public / "sample_submission.csv")
    depths = read_csv(raw / "depths.csv")
    write_csv(depths[depths["id"].isin(train["id"])].sort_values("id"), public / "depths.csv")
    for kind, part, into in (("images", train, "train"), ("masks", train, "train"), ("images", test, "test")):
        names = {f"{TOP}/train/{kind}/{id}.png": f"{into}/{kind}/{id}.png" for id in part["id"]}
        extract(archive, public, names)


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    asked = decode_masks(truth, truth["rle_mask"].fillna(""), [PIXELS] * len(truth))
    hits = int(thresholds_hit(asked, predictions["rle_mask"].array).sum())
    return hits / 10 / len(truth)


def thresholds_hit(truth: Masks, predictions: Masks) -> NDArray[np.int64]:
    """How many of the thresholds 0.50, 0.55, ..., 0.95 the IoU of each pair of masks exceeds.

    No salt: all where none was marked, else none. As published, nothing marked counts as everything where there is
    salt.
    """
    import numpy as np

    true, marked, shared = areas(truth), areas(predictions), overlaps(truth, predictions)
    both, either = np.where(marked, (shared, true + marked - shared), (true, np.full_like(true, PIXELS)))
    hits = (20 * both > np.arange(10, 20)[:, None] * either).sum(axis=0)
    return np.where(true, hits, np.where(marked, 0, 10))
