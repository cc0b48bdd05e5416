"""UW-Madison GI Tract Image Segmentation: outline stomach, small bowel and large bowel on MRI slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_uw_madison_gi_tract_image_segmentation.volumes import (
    Size,
    Sizes,
    mean_dice,
    mean_distance,
    pixels,
    slices,
    volumes,
)
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, link_file, link_tree, read_answers, read_csv, split, texts, write_csv
from mlecore_toolkit.submissions.masks import decode_masks

if TYPE_CHECKING:
    from pandas import DataFrame

    from mlecore_toolkit.submissions.masks import Masks

KEPT = 4  # days of a case in train


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    table = read_csv(raw / "train.csv")
    names = table["id"].str.split("_")
    case, day = names.str[0], names.str[0] + "_" + names.str[1]
    days = {name: list(dict.fromkeys(rows)) for name, rows in day.groupby(case, sort=False)}
    train_cases, test_cases = split(case.unique(), test_size=0.1, seed=42)
    late = {name for case in train_cases for name in sorted(days[case], key=_number)[KEPT:]}
    _link_folders(raw, public, {**dict.fromkeys(train_cases, "train"), **dict.fromkeys(test_cases, "test")}, late)
    in_test = case.isin(test_cases) | day.isin(late)
    for name, place in dict(zip(day, in_test, strict=True)).items():
        folder = Path("test" if place else "train", name.split("_")[0], name)
        ensure((public / folder).is_dir(), f"train.csv names the day {name}, which has no folder")
    train, test = table[~in_test], table[in_test]
    write_csv(train[["id", "class", "segmentation"]], public / "train.csv")
    write_csv(test[["id", "class"]], public / "test.csv")
    write_csv(test[["id", "class"]].assign(predicted="1 1 5 2"), public / "sample_submission.csv")
    sizes = slice_sizes(raw / "train", test["id"])
    answers = test[["id", "class"]].assign(
        predicted=test["segmentation"],
        image_width=[float(width) for _, width in sizes],
        image_height=[float(height) for height, _ in sizes],
    )
    write_csv(answers, private / "test.csv")


def _number(day: str) -> int:
    """12 of case3_day12."""
    return int(day.partition("_day")[2])


def _link_folders(raw: Path, public: Path, parts: Mapping[str, str], late: set[str]) -> None:
    """Whole cases; late days of train cases go to test."""
    for case, part in parts.items():
        ensure((raw / "train" / case).is_dir(), f"the folder train/{case} is missing")
        (public / part / case).mkdir(parents=True)
        for entry in sorted((raw / "train" / case).iterdir()):
            target = public / ("test" if entry.name in late else part) / case / entry.name
            if entry.is_dir():
                link_tree(entry, target)
            else:
                link_file(entry, target)


def slice_sizes(folder: Path, ids: Sequence[str]) -> list[Size]:
    """(height, width) of each slice, from the one file of its name: ``slice_<number>_<width>_<height>_...png``."""
    known: dict[Path, dict[str, list[str]]] = {}
    sizes = []
    for id in ids:
        case, day, *_, number = id.split("_")
        scans = folder / case / f"{case}_{day}" / "scans"
        if scans not in known:
            known[scans] = {}
            for path in scans.glob("slice_*_*.png"):
                known[scans].setdefault(path.name.split("_")[1], []).append(path.stem)
        found = known[scans].get(number, [])
        ensure(len(found) == 1, f"slice {id} has {len(found)} images in {case}/{case}_{day}/scans; expected 1")
        _, _, width, height, *_ = found[0].split("_")
        sizes.append((int(height), int(width)))
    return sizes


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    columns = ["id", "class", "predicted", "image_width", "image_height"]
    truth, predictions = format.read(submission, read_answers(private / "test.csv", columns))
    sizes = sizes_of(truth)
    ids, masks = _masks(predictions, sizes)
    true_ids, true_masks = _masks(truth, sizes)
    true = slices(true_ids)
    given = true if ids == true_ids else slices(ids)
    distance = mean_distance(volumes(true, true_masks, sizes), volumes(given, masks, sizes))
    return 0.4 * mean_dice(true_masks, masks) + 0.6 * (1 - distance)


@hookimpl
def asked(sample: DataFrame, public: Path) -> DataFrame:
    """Public file names tell the sizes."""
    sizes = slice_sizes(public / "test", sample["id"])
    return sample.assign(image_height=[size[0] for size in sizes], image_width=[size[1] for size in sizes])


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> Sequence[str]:
    sizes = sizes_of(asked)
    ids, masks = _masks(predictions, sizes)
    volumes(slices(ids), masks, sizes)
    if len(predictions) == len(asked):
        return []
    return [f"there are {len(predictions):,} rows, where the sample has {len(asked):,}"]


def sizes_of(asked: DataFrame) -> Sizes:
    sizes: Sizes = asked[["image_height", "image_width"]].to_numpy().astype("int64")
    return sizes


def _masks(table: DataFrame, sizes: Sizes) -> tuple[list[str], Masks]:
    """Ids and masks of the rows that count: as many as the answers have."""
    rows = table.head(len(sizes))
    return texts(rows, "id"), decode_masks(rows, texts(rows, "predicted", missing=""), pixels(sizes[: len(rows)]))
