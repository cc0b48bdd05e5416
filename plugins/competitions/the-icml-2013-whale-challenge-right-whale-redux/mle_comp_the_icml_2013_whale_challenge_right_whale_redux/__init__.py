"""The ICML 2013 Whale Challenge: does a hydrophone clip hold the call of a right whale?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore.metrics import roc_auc
from mlecore.prepare import ZipWriter, ensure, members, open_zip, write_csv
from mlecore.submissions import aligned, numbers, read_answers
from mlecore.submissions.table import Table

if TYPE_CHECKING:
    from numpy.random import RandomState

RATE = 2000  # samples a second


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    found = members(raw / "train2.zip")
    clips = sorted(name.removeprefix("train2/") for name in found if name.startswith("train2/"))
    ensure(all(clip.endswith(".aif") for clip in clips), "train2.zip holds something other than .aif clips")
    dates = sorted({_date(clip) for clip in clips})
    ensure(len(dates) == 4, f"expected clips of four dates, found {len(dates)}: {', '.join(dates[:6])}")
    train, test = ([clip for clip in clips if _date(clip) in days] for days in (dates[:2], dates[2:]))
    renamed = {clip: re.sub(r"TRAIN\d+", f"TRAIN{i}", clip) for i, clip in enumerate(train)}
    unlabelled = {clip: f"{clip.split('TRAIN')[0]}Test{i}.aif" for i, clip in enumerate(test)}
    with open_zip(raw / "train2.zip") as source:
        for folder, names in (("train2", renamed), ("test2", unlabelled)):
            with ZipWriter(public / f"{folder}.zip") as packed:
                packed.add(f"{folder}/", b"")
                for old, new in names.items():
                    packed.move(source, source.getinfo(f"train2/{old}"), f"{folder}/{new}")
    calls = [int(clip.endswith("_1.aif")) for clip in test]
    answers = pd.DataFrame({"clip": list(unlabelled.values()), "probability": calls})
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(probability=0), public / "sampleSubmission.csv")


def _date(clip: str) -> str:
    return clip.split("_")[0]


@hookimpl
def grade(submission: Table, private: Path) -> float:
    answers = read_answers(private / "test.csv", ["clip", "probability"])
    truth, guess = aligned(submission, answers, on="clip", columns=["probability"])
    return roc_auc(truth["probability"], numbers(guess, "probability", low=0, high=1))


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    each = max(20, round(60 * size))
    numbers_ = rng.permutation(4 * each)  # not in the order of the names
    with ZipWriter(raw / "train2.zip") as clips:
        for day in range(4):
            for i in range(each):
                call = int(rng.rand() < 0.4)
                second = 995 + 7 * i  # 1002s comes before 995s
                name = f"{20090328 + day}_{i // 60:02d}{i % 60:02d}00_{second:03d}s{i % 9}ms"
                clips.add(f"train2/{name}_TRAIN{numbers_[day * each + i]}_{call}.aif", _clip(rng, call))
    with ZipWriter(raw / "test2.zip") as clips:
        for i in range(3):
            clips.add(f"test2/20090402_000000_{i:03d}s0ms_Test{i}.aif", _clip(rng, i % 2))
    names = [f"20090402_000000_{i:03d}s0ms_Test{i}.aif" for i in range(3)]
    write_csv(pd.DataFrame({"clip": names, "probability": 0}), raw / "sampleSubmission.csv")


def _clip(rng: RandomState, call: int) -> bytes:
    """Half a second of noise as AIFF (mono, 16 bit); a call is a tone that rises."""
    import numpy as np

    time = np.arange(RATE // 2) / RATE
    sound = rng.normal(scale=800, size=len(time)) + call * 3000 * np.sin(2 * np.pi * (100 + 100 * time) * time)
    data = sound.clip(-32768, 32767).astype(">i2").tobytes()
    rate = bytes.fromhex("4009fa00000000000000")  # 2000 as an 80-bit float
    common = b"COMM" + (18).to_bytes(4, "big") + (1).to_bytes(2, "big") + len(time).to_bytes(4, "big")
    common += (16).to_bytes(2, "big") + rate
    samples = b"SSND" + (len(data) + 8).to_bytes(4, "big") + bytes(8) + data
    return b"FORM" + (4 + len(common) + len(samples)).to_bytes(4, "big") + b"AIFF" + common + samples
