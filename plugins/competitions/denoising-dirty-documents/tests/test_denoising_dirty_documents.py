"""Denoising Dirty Documents: damaged archives, and which values its grader takes."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlecore_testing import Trial
from mlecore_toolkit import ZipWriter, encode


def zips(raw: Path, noisy: list[str], clean: list[str]) -> None:
    picture = encode(np.arange(6, dtype=np.uint8).reshape(2, 3), "PNG")
    raw.mkdir()
    for folder, names in (("train", noisy), ("train_cleaned", clean)):
        with ZipWriter(raw / f"{folder}.zip") as archive:
            for name in names:
                archive.add(f"{folder}/{name}", picture)


def test_what_is_missing_or_no_picture_is_named(trial: Trial, tmp_path: Path) -> None:
    names = [f"{n}.png" for n in range(1, 11)]
    for number, (noisy, clean) in enumerate([(names, names[1:]), (names[1:], names), (names, [])]):
        zips(tmp_path / f"gap{number}", noisy, clean)
        trial.refuses_raw(tmp_path / f"gap{number}", r"hold different pages: 1\.png")
    huge = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (60_000).to_bytes(4, "big") * 2 + b"\x08\0\0\0\0"  # a bomb
    for content in (b"ink", huge + zlib.crc32(huge[12:]).to_bytes(4, "big") + bytes(50)):
        raw = tmp_path / f"raw{len(content)}"
        zips(raw, names, [])
        (raw / "train_cleaned.zip").unlink()
        with ZipWriter(raw / "train_cleaned.zip") as archive:
            for name in names:
                archive.add(f"train_cleaned/{name}", content)
        trial.refuses_raw(raw, r"train_cleaned/\d+\.png cannot be read as a picture")


@pytest.mark.parametrize(("value", "read"), [("1_0", 10), ("\uff11", 1), (-7.25, -7.25), ("1e200", np.inf)])
def test_any_finite_number_is_taken(trial: Trial, answers: pd.DataFrame, value: object, read: float) -> None:
    expected = abs(read - answers["value"][2]) / len(answers) ** 0.5
    changed = answers.astype({"value": object})
    changed.loc[2, "value"] = value
    assert trial.grade(changed) == pytest.approx(expected, rel=1e-12)
