"""Edition v2: the depths of all images are public, and an empty mask on salt scores 0."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_tgs_salt_identification_challenge as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, areas, ensure, read_csv, write_csv
from mlecore_toolkit.submissions.masks import decode_masks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mlecore_toolkit.submissions.masks import Masks


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    images = {id for path in (public / "train.csv", private / "test.csv") for id in read_csv(path)["id"]}
    depths = read_csv(raw / "depths.csv")
    missing = images.difference(depths["id"])
    ensure(not missing, f"depths.csv lacks {len(missing)} of the {len(images)} images")
    (public / "depths.csv").unlink()
    write_csv(depths[depths["id"].isin(images)].sort_values("id"), public / "depths.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    asked = decode_masks(truth, truth["rle_mask"].fillna(""), [v1.PIXELS] * len(truth))
    hits = int(thresholds_hit(asked, predictions["rle_mask"].array).sum())
    return hits / 10 / len(truth)


def thresholds_hit(truth: Masks, predictions: Masks) -> NDArray[np.int64]:
    """How many of the thresholds 0.50, 0.55, ..., 0.95 the IoU of each pair of masks exceeds.

    All where both are empty, none where one is.
    """
    import numpy as np

    return np.where((areas(truth) > 0) & (areas(predictions) == 0), 0, v1.thresholds_hit(truth, predictions))
