"""Edition v2: rows are paired by slice and organ, and each organ of a scan is a volume."""

from __future__ import annotations

from collections.abc import Sequence
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
from mlecore.submissions import Format, Table, generic_check, read_answers, sorted_alike, texts
from mlecore.submissions.masks import decode_masks

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore.submissions.lists import Lists

KEY = "id and class"


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """0.4 times the mean Dice of the rows and 0.6 times one minus the mean Hausdorff distance of the volumes."""
    columns = ["id", "class", "predicted", "image_width", "image_height"]
    truth, predictions = _paired(submission, read_answers(private / "test.csv", columns), format)
    sizes = truth[["image_height", "image_width"]].to_numpy().astype("int64")
    asked, given = (_masks(table, sizes) for table in (truth, predictions))
    named = slices((truth["class"] + " " + truth["id"]).tolist())
    distance = mean_distance(volumes(named, asked, sizes), volumes(named, given, sizes))
    return 0.4 * mean_dice(asked, given) + 0.6 * (1 - distance)


@hookimpl
def check(submission: Table, sample: Table, public: Path, format: Format) -> Sequence[str]:
    """Public file names tell the sizes."""
    warnings = generic_check(format, submission, sample)
    asked, predictions = _paired(submission, sample.frame(), format)
    _masks(predictions, v1.slice_sizes(public / "test", asked["id"]))
    return warnings


def _paired(submission: Table, answers: DataFrame, format: Format) -> tuple[DataFrame, DataFrame]:
    """The answers' rows and the submission's, paired by slice and organ."""
    truth, predictions = format.read(submission, answers)
    for table in (truth, predictions):
        table[KEY] = table["id"] + " " + texts(table, "class")
    return sorted_alike(predictions, truth, KEY)


def _masks(table: DataFrame, sizes: Sizes) -> Lists:
    return decode_masks(table, texts(table, "predicted", missing=""), pixels(sizes), exact=True)
