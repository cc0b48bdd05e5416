"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState

RATE = 2000  # samples a second


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
    """Half a second of noise as AIFF (mono, 16 bit); a call is a tone that rises.

    Clips are loud or quiet whatever is in them, so that how well they compress does not tell calls.
    """
    import numpy as np

    time = np.arange(RATE // 2) / RATE
    sound = rng.normal(size=len(time)) + call * 3 * np.sin(2 * np.pi * (100 + 100 * time) * time)
    loudness = 800 * 4 ** rng.uniform(-1, 1) / sound.std()
    data: bytes = (loudness * sound).clip(-32768, 32767).astype(">i2").tobytes()
    rate = bytes.fromhex("4009fa00000000000000")  # 2000 as an 80-bit float
    common = b"COMM" + (18).to_bytes(4, "big") + (1).to_bytes(2, "big") + len(time).to_bytes(4, "big")
    common += (16).to_bytes(2, "big") + rate
    samples = b"SSND" + (len(data) + 8).to_bytes(4, "big") + bytes(8) + data
    return b"FORM" + (4 + len(common) + len(samples)).to_bytes(4, "big") + b"AIFF" + common + samples
