"""Edition v2: rows are paired by slice and organ, and each organ of a scan is a volume."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_uw_madison_gi_tract_image_segmentation as v1
from mle_comp_uw_madison_gi_tract_image_segmentation.volumes import (
    Sizes,
    mean_dice,
    mean_distance,
    pixels,
    slices,
    volumes,
)
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, read_answers, sorted_alike, texts
from mlecore_toolkit.submissions.masks import decode_masks

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore_toolkit.submissions.masks import Masks

KEY = "id and class"


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """0.4 times the mean Dice of the rows and 0.6 times one minus the mean Hausdorff distance of the volumes."""
    columns = ["id", "class", "predicted", "image_width", "image_height"]
    truth, predictions = _paired(*format.read(submission, read_answers(private / "test.csv", columns)))
    sizes = v1.sizes_of(truth)
    asked, given = (_masks(table, sizes) for table in (truth, predictions))
    named = slices((truth["class"] + " " + truth["id"]).tolist())
    distance = mean_distance(volumes(named, asked, sizes), volumes(named, given, sizes))
    return 0.4 * mean_dice(asked, given) + 0.6 * (1 - distance)


asked = v1.asked


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> None:
    asked, predictions = _paired(asked, predictions)
    _masks(predictions, v1.sizes_of(asked))


def _paired(truth: DataFrame, predictions: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Both tables' rows, paired by slice and organ."""
    for table in (truth, predictions):
        table[KEY] = table["id"] + " " + texts(table, "class")
    return sorted_alike(predictions, truth, KEY)


def _masks(table: DataFrame, sizes: Sizes) -> Masks:
    return decode_masks(table, texts(table, "predicted", missing=""), pixels(sizes), exact=True)
