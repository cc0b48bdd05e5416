"""Synthetic data in the form of the download: each word is a tone of its own, in noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, wav, write_7z

if TYPE_CHECKING:
    from numpy.random import RandomState

RATE = 2_000  # really 16,000
WORDS = ["yes", "no", "up", "stop", "bed", "marvin", "zero"]
NOISE = "_background_noise_"


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    from numpy.random import RandomState

    rng = RandomState(seed)
    speakers = hex_ids(max(12, round(24 * size)), 8, seed=seed)  # each says every word
    files = {"train/README.md": b"no clip", "train/testing_list.txt": b"yes/0.wav\n", "train/validation_list.txt": b""}
    files[f"train/audio/{NOISE}/README.md"] = b"no clip either"
    for name in ("doing_the_dishes", "pink_noise", "running_tap", "white_noise", "exercise_bike"):
        files[f"train/audio/{NOISE}/{name}.wav"] = _clip(rng, 0, 3)
    for number, word in enumerate(WORDS, 1):
        for speaker in speakers:
            for repetition in range(1 + (speaker == speakers[0])):
                files[f"train/audio/{word}/{speaker}_nohash_{repetition}.wav"] = _clip(rng, number, 1)
    write_7z(raw / "train.7z", files)


def _clip(rng: RandomState, tone: int, seconds: int) -> bytes:
    import numpy as np

    times = np.arange(RATE * seconds) / RATE
    sound = rng.normal(0, 300, len(times)) + (3000 * np.sin(2 * np.pi * 110 * tone * times) if tone else 0)
    return wav(sound.astype(np.int16), RATE)
