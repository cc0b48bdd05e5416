"""MLSP 2013 Bird Classification Challenge: which of 19 species are heard in a recording?"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, extract, open_member, open_zip, read_csv, roc_auc, write_csv

ARCHIVE = "mlsp_contest_dataset.zip"
ESSENTIAL = "mlsp_contest_dataset/essential_data"
SUPPLEMENTAL = "mlsp_contest_dataset/supplemental_data"
SPECIES = 19
PICTURES = ("filtered_spectrograms", "spectrograms", "supervised_segmentation")
SEGMENTS = ("histogram_of_segments", "segment_features", "segment_rectangles")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    files = write_tables(raw / ARCHIVE, public, private)
    extract(raw / ARCHIVE, public, copied(raw / ARCHIVE, files))


def write_tables(source: Path, public: Path, private: Path) -> list[str]:
    """All that is text, answers included. Returns the recordings' file names, in the archive's order."""
    import pandas as pd

    essential, supplemental = public / "essential_data", public / "supplemental_data"

    folds = read_csv(source, member=f"{ESSENTIAL}/CVfolds_2.txt")
    folds = folds[folds["fold"] == 0].reset_index(drop=True)  # Kaggle's own test recordings have no labels
    folds.loc[folds.sample(frac=0.2, random_state=0).index, "fold"] = 1
    new = {int(old): position for position, old in enumerate(folds["rec_id"])}
    folds["rec_id"] = range(len(folds))
    write_csv(folds, essential / "CVfolds_2.txt")
    test = folds.index[folds["fold"] == 1].tolist()

    files = read_csv(source, member=f"{ESSENTIAL}/rec_id2filename.txt")
    files = files[files["rec_id"].isin(new)]
    ensure(len(files) == len(folds), f"rec_id2filename.txt names {len(files)} of {len(folds)} labelled recordings")
    write_csv(files.assign(rec_id=files["rec_id"].map(new)), essential / "rec_id2filename.txt")

    shown, pairs = [], []
    for old, labels in _lines(source, f"{ESSENTIAL}/rec_labels_test_hidden.txt"):
        if old in new:
            recording = new[old]
            rest = "?" if recording in test else labels
            shown.append(f"{recording},{rest}" if rest else str(recording))
            if recording in test:
                heard = {int(label) for label in labels.split(",")} if labels else set()
                pairs += [(recording * 100 + species, int(species in heard)) for species in range(SPECIES)]
    write_lines(essential / "rec_labels_test_hidden.txt", ["rec_id,[labels]", *shown])
    write_csv(pd.DataFrame(pairs, columns=["Id", "Probability"]), private / "answers.csv")
    ids = [recording * 100 + species for recording in test for species in range(SPECIES)]
    write_csv(pd.DataFrame({"Id": ids, "Probability": 0}), public / "sample_submission.csv")

    for name in SEGMENTS:
        rows = [f"{new[old]},{rest}" for old, rest in _lines(source, f"{SUPPLEMENTAL}/{name}.txt") if old in new]
        header = "rec_id,[histogram of segment features]"  # as published: the same for all three
        write_lines(supplemental / f"{name}.txt", [header, *rows])
    return list(files["filename"])


def copied(source: Path, names: Sequence[str]) -> dict[str, str]:
    """Members that go to public/ unchanged, and their places there; ``names`` are those of recordings."""
    with open_zip(source) as archive:
        there = set(archive.namelist())
    copied = [f"{ESSENTIAL}/species_list.txt", *(f"{ESSENTIAL}/src_wavs/{name}.wav" for name in names)]
    copied += [f"{SUPPLEMENTAL}/{folder}/{name}.bmp" for folder in PICTURES for name in names]
    copied += [f"{SUPPLEMENTAL}/segment_{picture_}.bmp" for picture_ in ("clusters", "mosaic")]
    copied += [p for name in names if (p := f"{SUPPLEMENTAL}/segmentation_examples/{name}.bmp") in there]
    return {member: member.removeprefix("mlsp_contest_dataset/") for member in copied}


def _lines(source: Path, member: str) -> Iterator[tuple[int, str]]:
    """Of a text file without its header: the id that a line begins with, and what follows its first comma."""
    with open_member(source, member) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8")
        next(lines, None)
        for number, line in enumerate(lines, 2):
            old, _, rest = line.rstrip("\n").partition(",")
            try:
                yield int(old), rest
            except ValueError:
                raise DataError(f"{member}, line {number}: begins with {old!r}, which is not a number") from None


def write_lines(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "answers.csv")
    return roc_auc(truth["Probability"], predictions["Probability"])
