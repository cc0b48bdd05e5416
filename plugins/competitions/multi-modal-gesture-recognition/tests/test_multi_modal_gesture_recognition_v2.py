"""Multi-modal Gesture Recognition, edition v2: no labels in test videos, and lists may be empty."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from mle_comp_multi_modal_gesture_recognition.matlab import without_labels, write_mat

from mlecore.errors import DataError
from mlecore_testing import Trial
from mlecore_toolkit import extract

pytestmark = pytest.mark.trial(edition="v2")


def samples(trial: Trial, into: Path) -> dict[str, dict[str, bytes]]:
    """Of each test video the files in its zip."""
    extract(trial.public / "test.tar.gz", into)
    found = {}
    for path in sorted(into.iterdir()):
        with ZipFile(path) as archive:
            found[path.name] = {name: archive.read(name) for name in archive.namelist()}
    return found


def video(files: dict[str, bytes]) -> Any:
    from scipy.io import loadmat

    return next(loadmat(BytesIO(data))["Video"][0, 0] for name, data in files.items() if name.endswith("_data.mat"))


def test_only_the_labels_are_gone(trial: Trial, trial_v1: Trial, tmp_path: Path) -> None:
    old, new = samples(trial_v1, tmp_path / "v1"), samples(trial, tmp_path / "v2")
    assert list(old) == list(new)
    for name in old:
        assert video(old[name])["Labels"].size
        assert not video(new[name])["Labels"].size
        assert video(old[name])["Frames"].dtype == video(new[name])["Frames"].dtype
        for field in ("NumFrames", "FrameRate", "MaxDepth"):
            assert video(old[name])[field] == video(new[name])[field]
        others = {member: data for member, data in old[name].items() if not member.endswith(".mat")}
        assert others.items() <= new[name].items()
        assert set(old[name]) == set(new[name])


def test_matlab_types_survive() -> None:
    from scipy.io import loadmat

    frames = np.empty((1, 2), dtype=[("Positions", object), ("Name", object)])
    for place in range(2):
        frames[0, place] = (np.array([[1.5, place]]), "Mano")
    labels = np.zeros((1, 1), dtype=[("Name", object)])
    labels[0, 0] = ("vattene",)
    content = {"NumFrames": 7.0, "Mask": np.uint8([[1, 2]]), "Frames": frames, "Labels": labels}
    read = loadmat(BytesIO(without_labels(write_mat({"Video": content, "other": 1.0}), "x.mat")), mat_dtype=True)
    kept = read["Video"][0, 0]
    assert (read["other"].dtype, kept["NumFrames"].dtype, kept["Mask"].dtype) == (float, float, np.uint8)
    assert kept["Frames"]["Positions"][0, 1].tolist() == [[1.5, 1.0]]
    assert kept["Frames"]["Name"][0, 0].tolist() == ["Mano"]
    assert kept["Labels"].shape == (1, 0)
    with pytest.raises(DataError, match=r"x\.mat: Video\.Labels cannot be emptied"):
        without_labels(b"no Matlab file", "x.mat")
    with pytest.raises(DataError, match="KeyError"):
        without_labels(write_mat({"other": 1.0}), "x.mat")


def test_a_list_may_be_empty(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    none = answers.assign(Sequence=None)
    trial_v1.refuses(none, "Sequence")
    assert trial.grade(none) == 1
    assert trial.grade(answers.assign(Sequence=[None, *answers["Sequence"][1:]])) == len(
        answers["Sequence"][0].split()
    ) / sum(map(len, answers["Sequence"].str.split()))


@pytest.mark.parametrize("cell", ["21", "0", "-1", "1,2", "5.0", "1_2", "٣"])
def test_only_gestures_are_valid(trial: Trial, answers: pd.DataFrame, cell: str) -> None:
    trial.refuses(answers.assign(Sequence=[f"3 {cell}", *answers["Sequence"][1:]]), "from 1 to 20")
