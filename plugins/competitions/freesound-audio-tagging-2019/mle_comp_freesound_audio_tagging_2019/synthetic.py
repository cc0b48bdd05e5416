"""Synthetic data in the form of the download, and of the archive that is fetched besides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_freesound_audio_tagging_2019 import CLASSES, META, META_TABLE
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, hex_ids, wav, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState

RATE = 44100
UNKNOWN = "Unknown_sound"  # a label that is none of the classes


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Each class is a tone of its own."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(40, round(160 * size))
    names = [f"{name}.wav" for name in hex_ids(3 * count, 8, seed=seed)]
    curated, noisy, test = names[:count], names[count : 2 * count], names[2 * count :]
    for part, clips, wrong in (("train_curated", curated, 0.0), ("train_noisy", noisy, 0.3)):
        labels = [_labels(rng) for _ in clips]
        _sounds(raw / f"{part}.zip", rng, clips, labels)
        told = [_labels(rng) if rng.rand() < wrong else heard for heard in labels]
        write_csv(pd.DataFrame({"fname": clips, "labels": [",".join(heard) for heard in told]}), raw / f"{part}.csv")
    labels = [_labels(rng) for _ in test]
    usage = ["Private" if place % 4 else "Public" for place in range(count)]
    written = [",".join([*heard, UNKNOWN] if place % 7 == 1 else heard) for place, heard in enumerate(labels)]
    written[2] = UNKNOWN  # a private clip with no label that counts
    table = pd.DataFrame({"fname": test, "labels": written, "usage": usage})
    table = table.assign(freesound_id=range(count), license="CC0")
    with ZipWriter(raw / f"{META}.zip") as archive:
        archive.add(META_TABLE, table.to_csv(index=False, lineterminator="\n").encode())
        archive.add(f"{META}/vocabulary.csv", "\n".join(CLASSES).encode())
    asked = sorted(table.loc[table["usage"] == "Private", "fname"])
    write_csv(pd.DataFrame({"fname": asked, **dict.fromkeys(CLASSES, 0)}), raw / "sample_submission.csv")
    known = dict(zip(test, labels, strict=True))
    _sounds(raw / "test.zip", rng, asked, [known[clip] for clip in asked])


def _labels(rng: RandomState) -> list[str]:
    """One to three classes; the first ones are common."""
    places = {min(int(rng.exponential(8)), len(CLASSES) - 1) for _ in range(rng.randint(1, 4))}
    return [CLASSES[place] for place in sorted(places)]


def _sounds(target: Path, rng: RandomState, clips: list[str], labels: list[list[str]]) -> None:
    import numpy as np

    with ZipWriter(target, stored=True) as archive:
        for clip, heard in zip(clips, labels, strict=True):
            time = np.arange(rng.randint(1500, 3000)) / RATE
            sound = 500 * rng.normal(size=len(time))
            for name in heard:
                sound += 6000 * np.sin(2 * np.pi * (200 + 200 * CLASSES.index(name)) * time)
            archive.add(clip, wav(sound.clip(-32768, 32767).astype(np.int16), RATE))
