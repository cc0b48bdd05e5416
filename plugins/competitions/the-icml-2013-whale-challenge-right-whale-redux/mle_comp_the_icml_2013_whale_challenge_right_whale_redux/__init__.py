"""The ICML 2013 Whale Challenge: does a hydrophone clip hold the call of a right whale?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ZipWriter, ensure, members, open_zip, roc_auc, write_csv
from mlecore_toolkit.prepare.zips import find


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    train, test = clips_of_parts(raw)
    write(raw, public, private, train, {clip: f"{clip.split('TRAIN')[0]}Test{i}.aif" for i, clip in enumerate(test)})


def clips_of_parts(raw: Path) -> tuple[list[str], list[str]]:
    """The clips of the first two days, and of the last two, in the order of their names."""
    found = members(raw / "train2.zip")
    clips = sorted(name.removeprefix("train2/") for name in found if name.startswith("train2/"))
    ensure(all(clip.endswith(".aif") for clip in clips), "train2.zip holds something other than .aif clips")
    dates = sorted({_date(clip) for clip in clips})
    ensure(len(dates) == 4, f"train2.zip: expected clips of four dates, found {len(dates)}: {', '.join(dates[:6])}")
    train, test = ([clip for clip in clips if _date(clip) in days] for days in (dates[:2], dates[2:]))
    return train, test


def write(raw: Path, public: Path, private: Path, train: Sequence[str], unlabelled: Mapping[str, str]) -> None:
    """Both parts; ``unlabelled``: test clips with their new names."""
    import pandas as pd

    renamed = {clip: re.sub(r"TRAIN\d+", f"TRAIN{i}", clip) for i, clip in enumerate(train)}
    with open_zip(raw / "train2.zip") as source:
        for folder, names in (("train2", renamed), ("test2", unlabelled)):
            with ZipWriter(public / f"{folder}.zip") as packed:
                packed.add(f"{folder}/", b"")
                for old, new in names.items():
                    packed.move(source, find(source, f"train2/{old}"), f"{folder}/{new}")
    calls = [int(clip.endswith("_1.aif")) for clip in unlabelled]
    answers = pd.DataFrame({"clip": list(unlabelled.values()), "probability": calls})
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(probability=0), public / "sampleSubmission.csv")


def _date(clip: str) -> str:
    return clip.split("_")[0]


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return roc_auc(truth["probability"], predictions["probability"])
