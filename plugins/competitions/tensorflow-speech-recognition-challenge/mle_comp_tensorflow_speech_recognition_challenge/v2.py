"""Edition v2: Kaggle's twelve classes, split by speaker; background noise to predict is cut into seconds."""

from __future__ import annotations

import tempfile
import wave
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from random import Random

import mle_comp_tensorflow_speech_recognition_challenge as v1
from mlecore.errors import DataError
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import copy_file, extract, link_file, split, split_whole_groups, write_csv

NOISE = "_background_noise_"
SILENCE, UNKNOWN = "silence", "unknown"
WORDS = {"yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"}
SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    clips = v1.all_clips(raw)
    spoken = [clip for clip in clips if clip.parent.name != NOISE]
    parts = split_whole_groups([clip.name.partition("_nohash_")[0] for clip in spoken], test_size=0.1, seed=SEED)
    train, test = ([spoken[place] for place in part] for part in parts)
    # a third of the few recordings, so that silence is not one kind of noise
    noise, test_noise = split([clip for clip in clips if clip.parent.name == NOISE], test_size=1 / 3, seed=SEED)
    with tempfile.TemporaryDirectory(dir=private) as scratch:
        folder = Path(scratch)
        extract(raw / "train.7z", folder, {str(clip): str(clip) for clip in clips})
        for clip in (*train, *noise):
            link_file(folder / clip, public / v1.CLIPS / clip.parent.name / clip.name)
        asked = [(folder / clip, _label(clip)) for clip in test]
        asked += [(second, SILENCE) for clip in test_noise for second in _seconds(folder / clip, folder / "seconds")]
        Random(SEED).shuffle(asked)
        names = [f"clip_{number:08}.wav" for number in range(len(asked))]
        for (source, _), name in zip(asked, names, strict=True):
            copy_file(source, public / "test" / "audio" / name)
    answers = pd.DataFrame({"fname": names, "label": [label for _, label in asked]})
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(label=SILENCE), public / "sample_submission.csv")


def _label(clip: PurePosixPath) -> str:
    return clip.parent.name if clip.parent.name in WORDS else UNKNOWN


def _seconds(recording: Path, into: Path) -> Iterator[Path]:
    """New files of one second each; what is left at the end of the recording is dropped."""
    into.mkdir(exist_ok=True)
    try:
        with wave.open(str(recording), "rb") as source:
            rate = source.getframerate()
            for number in range(source.getnframes() // rate):
                path = into / f"{recording.stem}_{number}.wav"
                with wave.open(str(path), "wb") as target:
                    target.setparams(source.getparams())
                    target.writeframes(source.readframes(rate))
                yield path
    except (wave.Error, EOFError, ZeroDivisionError) as error:
        raise DataError(f"{recording.name} cannot be read as a WAV file: {error}") from None
