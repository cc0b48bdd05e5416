"""Denoising Dirty Documents: its pages and pixels, and which values its grader takes."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlecore_testing import Trial
from PIL import Image

from mlecore.prepare import ZipWriter, encode

LOW = [6, 8, 26, 35, 36, 42, 54, 62, 68]
HIGH = [77, 78, 80, 95, 110, 111, 122, 131, 134, 137, 146, 150, 155, 159, 162, 170, 174, 180, 186, 216]


def members(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as source:
        return {name: source.read(name) for name in source.namelist() if not name.endswith("/")}


def test_the_real_names_give_the_real_test_pages(trial: Trial) -> None:
    public = trial.public
    assert sorted(int(path.stem) for path in (public / "test").iterdir()) == [*LOW, *HIGH]
    noisy, clean = members(trial.raw / "train.zip"), members(trial.raw / "train_cleaned.zip")
    moved = {
        f"train/{path.name}": path.read_bytes() for part in ("test", "train") for path in (public / part).iterdir()
    }
    assert moved == noisy
    left = {path.name for path in (public / "train_cleaned").iterdir()}
    assert left == {path.name for path in (public / "train").iterdir()} and len(left) == 115
    assert all((public / "train_cleaned" / name).read_bytes() == clean[f"train_cleaned/{name}"] for name in left)


def test_pixels_are_written_as_pandas_writes_them(trial: Trial) -> None:
    rows = []
    for name, content in sorted(members(trial.raw / "train_cleaned.zip").items()):
        stem = Path(name).stem
        if int(stem) in [*LOW, *HIGH]:
            grey = np.asarray(Image.open(io.BytesIO(content)).convert("L"))
            rows += [(f"{stem}_{r + 1}_{c + 1}", value / 255.0) for (r, c), value in np.ndenumerate(grey)]
    table = pd.DataFrame(rows, columns=["id", "value"])
    assert (trial.private / "answers.csv").read_text() == table.to_csv(index=False)
    assert (trial.public / "sampleSubmission.csv").read_text() == table.assign(value=1).to_csv(index=False)
    assert {0, 1} < set(table["value"])


def zips(raw: Path, noisy: list[str], clean: list[str]) -> None:
    picture = encode(np.arange(6, dtype=np.uint8).reshape(2, 3), "PNG")
    raw.mkdir()
    for folder, names in (("train", noisy), ("train_cleaned", clean)):
        with ZipWriter(raw / f"{folder}.zip") as archive:
            for name in names:
                archive.add(f"{folder}/{name}", picture)


def test_other_files_stay_where_they_are(trial: Trial, tmp_path: Path) -> None:
    names = [f"{n}.png" for n in range(1, 11)]
    zips(tmp_path / "raw", [*names, "notes.txt", "more/11.png"], names)
    public, _ = trial.prepare(tmp_path / "raw")
    assert (public / "train/notes.txt").is_file() and (public / "train/more/11.png").is_file()
    assert len(list(public.rglob("*.png"))) == 19


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


@pytest.mark.slow
def test_at_the_real_size_the_sample_is_the_published_one(trial: Trial, tmp_path: Path) -> None:
    trial.competition.make_raw(tmp_path / "raw", size=500)
    public, _ = trial.prepare(tmp_path / "raw")
    sample = (public / "sampleSubmission.csv").read_bytes()
    assert hashlib.md5(sample).hexdigest() == trial.competition.facts.md5["public/sampleSubmission.csv"]
