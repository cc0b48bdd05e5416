"""A competition as notebooks use it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import mlecore
from mlecore import Competition
from mlecore.data.prepared import Prepared
from mlecore.errors import DataError


@pytest.fixture(scope="module")
def digits() -> Competition:
    return mlecore.competition("optical-digits")


@pytest.fixture(scope="module")
def data(digits: Competition, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    root = tmp_path_factory.mktemp("digits")
    digits.fetch(root / "raw")
    digits.prepare(root / "raw", root / "public", root / "private")
    return Prepared(competition=digits.id, root=root)


def frames(path: Path) -> list[pd.DataFrame | pl.DataFrame]:
    frame = pd.read_csv(path)
    return [frame, frame.set_index(frame.columns[0]), frame.iloc[::-1], pl.read_csv(path)]


def test_files_and_frames_are_graded_alike(digits: Competition, data: Prepared, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    digits.perfect(data.private).to_csv(path, index=False)
    expected = digits.grade(str(path), data.private)
    for submission in [path, *frames(path)]:
        assert digits.grade(submission, data.private) == expected
        assert mlecore.check(digits, submission, str(data.public)) == mlecore.check(digits, path, data.public)
        report = mlecore.grade(digits, submission, data)
        assert (report.valid_submission, report.exact) == (True, expected)
        assert report.submission_path == (str(path) if submission is path else "")


def test_a_frame_that_is_no_submission(digits: Competition, data: Prepared) -> None:
    for frame in (pd.DataFrame({"x": [1]}), pl.DataFrame({"x": [1]})):
        with pytest.raises(mlecore.InvalidSubmission):
            digits.grade(frame, data.private)
        assert mlecore.grade(digits, frame, data).status == "invalid"


def test_all_errors_are_ours(digits: Competition, data: Prepared, tmp_path: Path) -> None:
    with pytest.raises(mlecore.MlecoreError, match=r"not builtins\.list"):
        digits.grade([1, 2], data.private)  # type: ignore[arg-type]
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be created"):
        digits.prepare(tmp_path, tmp_path / "file" / "public", tmp_path)
