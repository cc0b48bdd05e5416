"""TensorFlow Speech Recognition Challenge: which word is spoken in a clip of one second?"""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    accuracy,
    copy_file,
    ensure,
    ensure_unique,
    extract,
    link_file,
    members,
    split,
    write_csv,
)

CLIPS = PurePosixPath("train/audio")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    clips = all_clips(raw)
    train, test = split(clips, test_size=0.1)
    names = [f"clip_{number:08}.wav" for number in range(len(test))]
    with tempfile.TemporaryDirectory(dir=private) as scratch:
        folder = Path(scratch)
        extract(raw / "train.7z", folder, {str(clip): str(clip) for clip in clips})
        for clip in train:
            link_file(folder / clip, public / CLIPS / clip.parent.name / clip.name)
        for clip, name in zip(test, names, strict=True):
            # unpacked label by label, with the archive's times: a link would tell the label
            copy_file(folder / clip, public / "test" / "audio" / name)
    answers = pd.DataFrame({"fname": names, "label": [clip.parent.name for clip in test]})
    write_csv(answers, private / "test.csv")
    write_csv(answers.assign(label="silence"), public / "sample_submission.csv")


def all_clips(raw: Path) -> list[PurePosixPath]:
    """The clips of train.7z, by label and name."""
    found = [PurePosixPath(name) for name in members(raw / "train.7z")]
    clips = sorted((path for path in found if path.suffix == ".wav" and CLIPS in path.parents), key=_key)
    ensure(clips, f"train.7z holds no clips below {CLIPS}")
    ensure_unique(map(_key, clips), "clips of train.7z, as <label>_<file name>")
    return clips


def _key(clip: PurePosixPath) -> str:
    return f"{clip.parent.name}_{clip.name}"


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    truth, predictions = format.read(submission, private / "test.csv")
    return accuracy(list(truth["label"]), list(predictions["label"]))
