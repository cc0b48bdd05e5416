"""Synthetic data in the form of the download."""

from __future__ import annotations

import io
import tarfile
from gzip import GzipFile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, ZipInfo

from mle_comp_multi_modal_gesture_recognition import GESTURES, OTHER_ARCHIVES, TAR_ARCHIVES, TEST_ARCHIVE
from mle_comp_multi_modal_gesture_recognition.matlab import write_mat
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, wav, write_7z, write_csv

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TESTED = ["0901", "0902"]  # ids of Kaggle's own test set
MOST = 1400  # videos of an archive, of which there are seven: ids have four digits


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """In a video's sound each gesture is a tone of its own."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = min(max(3, round(15 * size)), MOST)  # of videos in an archive
    names = (*TAR_ARCHIVES, TEST_ARCHIVE)
    last = max(899, count * len(names) + len(TESTED))
    numbers = [number for number in range(1, last + 1) if f"{number:04d}" not in TESTED]
    ids = rng.permutation(numbers)[: count * len(names)].reshape(len(names), count)
    time = np.arange(200 * max(1, round(15 * size / MOST))) / 2000  # beyond, videos become longer
    rows = []
    for name, videos in zip(names, ids.tolist(), strict=True):
        packed = {}
        for video in videos:
            # more than one gesture, so that the column never reads as numbers
            sequence = rng.choice(GESTURES, rng.randint(2, 21)).tolist()
            tones = [3000 * np.sin(2 * np.pi * 40 * gesture * time) for gesture in sequence]
            labelled = name.startswith("training")
            name_of_video = f"Sample{video:05d}"
            files = {
                f"{name_of_video}_audio.wav": wav(np.concatenate(tones).astype(np.int16), 2000),
                f"{name_of_video}_data.mat": write_mat({"Video": _video(sequence, labelled=labelled)}),
            }
            packed[f"{name_of_video}.zip"] = _zipped(files)
            if labelled:
                rows.append((f"{video:04d}", " ".join(map(str, sequence))))
        _write_tar_gz(raw / name, packed)
    shuffled = [rows[place] for place in rng.permutation(len(rows))]  # so test ids are neither last nor sorted
    write_csv(pd.DataFrame(shuffled, columns=["Id", "Sequence"]), raw / "training.csv")
    # Kaggle's own test set has no videos in the download
    write_csv(pd.DataFrame({"Id": TESTED}), raw / "test.csv")
    write_csv(pd.DataFrame({"Id": TESTED, "Sequence": ["1 2", "3"]}), raw / "randomPredictions.csv")
    for name in OTHER_ARCHIVES:
        if name.endswith(".7z"):
            write_7z(raw / name, {"readme.txt": name.encode()})
        else:
            with ZipWriter(raw / name) as archive:
                archive.add("main.m", b"% nothing\n")


def _video(sequence: list[int], *, labelled: bool) -> dict[str, Any]:
    """The structure of a Matlab file; each gesture takes ten frames, which is all that a skeleton shows."""
    import numpy as np

    frames = [{"Skeleton": {"WorldPosition": np.zeros((20, 3))}} for _ in range(3)]
    video = {"NumFrames": 10 * len(sequence), "FrameRate": 20.0, "MaxDepth": 3978, "Frames": _structures(frames)}
    if labelled:
        gestures = [
            {"Name": f"gesture{gesture}", "Begin": 10 * place + 1, "End": 10 * place + 10}
            for place, gesture in enumerate(sequence)
        ]
        video["Labels"] = _structures(gestures)
    return video


def _structures(items: list[dict[str, Any]]) -> NDArray[np.void]:
    """A row of structures with the same fields."""
    import numpy as np

    array = np.empty((1, len(items)), dtype=[(field, object) for field in items[0]])
    for place, item in enumerate(items):
        array[0, place] = tuple(item.values())
    return array


def _zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(ZipInfo(name), data)
    return out.getvalue()


def _write_tar_gz(target: Path, files: dict[str, bytes]) -> None:
    """Without times, owners and names, so that the same input gives the same bytes."""
    with (
        target.open("xb") as file,
        GzipFile("", "wb", fileobj=file, mtime=0, compresslevel=1) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
