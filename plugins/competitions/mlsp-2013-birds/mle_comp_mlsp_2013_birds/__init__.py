"""MLSP 2013 Bird Classification Challenge: which of 19 species are heard in a recording?"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore.metrics import roc_auc
from mlecore.prepare import ZipWriter, encode, ensure, extract, open_member, open_zip, picture, read_csv, wav, write_csv
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import RandomState
    from numpy.typing import NDArray

ARCHIVE = "mlsp_contest_dataset.zip"
ESSENTIAL = "mlsp_contest_dataset/essential_data"
SUPPLEMENTAL = "mlsp_contest_dataset/supplemental_data"
SPECIES = 19
PICTURES = ("filtered_spectrograms", "spectrograms", "supervised_segmentation")
SEGMENTS = ("histogram_of_segments", "segment_features", "segment_rectangles")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    source = raw / ARCHIVE
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
    _write_lines(essential / "rec_labels_test_hidden.txt", ["rec_id,[labels]", *shown])
    write_csv(pd.DataFrame(pairs, columns=["Id", "Probability"]), private / "answers.csv")
    ids = [recording * 100 + species for recording in test for species in range(SPECIES)]
    write_csv(pd.DataFrame({"Id": ids, "Probability": 0}), public / "sample_submission.csv")

    for name in SEGMENTS:
        rows = [f"{new[old]},{rest}" for old, rest in _lines(source, f"{SUPPLEMENTAL}/{name}.txt") if old in new]
        header = "rec_id,[histogram of segment features]"  # as published: the same for all three
        _write_lines(supplemental / f"{name}.txt", [header, *rows])
    extract(source, public, _copied(source, files["filename"].tolist()))


def _copied(source: Path, names: list[str]) -> dict[str, str]:
    """Members that go to public/ unchanged, and their places there."""
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
                raise DataError(f"{member}, line {number}: begins with {old!r}, which is no number") from None


def _write_lines(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "answers.csv", ["Id", "Probability"])
    truth, guess = aligned(submission, answers, on="Id", columns=["Probability"])
    return roc_auc(truth["Probability"], numbers(guess, "Probability", low=0, high=1))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """About as many of Kaggle's own test recordings, unlabelled, lie between the labelled ones."""
    import numpy as np
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(60, round(120 * size))
    folds = rng.permutation(np.arange(count) % 2)
    heard = [np.flatnonzero(rng.rand(SPECIES) < np.linspace(0.25, 0.02, SPECIES)) for _ in range(count)]
    names = [f"PC{1 + i % 13}_2009{5 + i % 4:02d}{1 + i % 28:02d}_{i:06d}_0010" for i in range(count)]
    with ZipWriter(raw / ARCHIVE) as archive:

        def text(name: str, header: str, lines: list[str]) -> None:
            archive.add(name, "\n".join([header, *lines, ""]).encode())

        text(f"{ESSENTIAL}/CVfolds_2.txt", "rec_id,fold", [f"{i},{fold}" for i, fold in enumerate(folds)])
        text(f"{ESSENTIAL}/rec_id2filename.txt", "rec_id,filename", [f"{i},{n}" for i, n in enumerate(names)])
        labels = [",".join(map(str, [i, *heard[i]])) if not folds[i] else f"{i},?" for i in range(count)]
        text(f"{ESSENTIAL}/rec_labels_test_hidden.txt", "rec_id,[labels]", labels)
        species = [f"{k},SP{k:02d},Species number {k}" for k in range(SPECIES)]
        text(f"{ESSENTIAL}/species_list.txt", "class_id,code,species", species)
        rows: dict[str, list[str]] = {name: [] for name in SEGMENTS}
        for i, birds in enumerate(heard):
            bars = np.zeros(100)
            bars[5 * birds] = 1.0  # each species has a cluster of its own
            bars = (bars + 0.1 * rng.rand(100)).round(3)
            rows["histogram_of_segments"].append(",".join([str(i), *map(str, bars)]))
            for segment in range(rng.randint(0, 4)):  # some recordings have none
                features = [f"{x:.2e}" if k % 3 else f"{x:.2f}" for k, x in enumerate(rng.rand(38))]
                rows["segment_features"].append(",".join([str(i), str(segment), *features]))
                box = map(str, rng.randint(0, 200, 4))
                rows["segment_rectangles"].append(",".join([str(i), str(segment), *box]))
        for name, lines in rows.items():
            text(f"{SUPPLEMENTAL}/{name}.txt", f"rec_id,[{name.replace('_', ' ')}]", lines)
        _media(archive, rng, names, heard)


def _media(archive: ZipWriter, rng: RandomState, names: list[str], heard: list[NDArray[np.intp]]) -> None:
    """Sounds with a tone for each species, and pictures of any kind."""
    import numpy as np

    time = np.arange(8000) / 16000
    for number, (name, birds) in enumerate(zip(names, heard, strict=True)):
        sound = 800 * rng.normal(size=len(time))
        for bird in birds:
            sound += 2500 * np.sin(2 * np.pi * (400 + 350 * bird) * time)
        samples = sound.clip(-32768, 32767).astype(np.int16)
        archive.add(f"{ESSENTIAL}/src_wavs/{name}.wav", wav(samples, 16000))
        folders = (*PICTURES, "segmentation_examples") if number % 10 == 3 else PICTURES
        for folder in folders:
            image = encode(picture(rng, len(birds), 40, 16), "BMP")
            archive.add(f"{SUPPLEMENTAL}/{folder}/{name}.bmp", image)
    for name in ("clusters", "mosaic"):
        archive.add(f"{SUPPLEMENTAL}/segment_{name}.bmp", encode(picture(rng, 0), "BMP"))
