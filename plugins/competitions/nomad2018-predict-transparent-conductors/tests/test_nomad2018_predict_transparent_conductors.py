"""Nomad2018: its two numberings, its crystals, and rows that are paired by place."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import check_competition

NOMAD = mlecore.competition("nomad2018-predict-transparent-conductors")
TARGETS = ["formation_energy_ev_natom", "bandgap_energy_ev"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raw/ (the stand-in), public/ and private/."""
    folder = tmp_path_factory.mktemp("nomad")
    NOMAD.make_raw(folder / "raw", size=0.2)
    NOMAD.prepare(folder / "raw", folder / "public", folder / "private")
    return folder


@pytest.fixture
def answers(data: Path) -> pd.DataFrame:
    return pd.read_csv(data / "private" / "test.csv")


def grade(table: pd.DataFrame, data: Path, tmp_path: Path) -> float:
    table.to_csv(tmp_path / "submission.csv", index=False)
    return NOMAD.grade(tmp_path / "submission.csv", data / "private")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("nomad2018-predict-transparent-conductors")


def test_each_part_is_numbered_from_1_and_keeps_its_crystals(data: Path) -> None:
    from sklearn.model_selection import train_test_split

    with zipfile.ZipFile(data / "raw" / "train.csv.zip") as archive, archive.open("train.csv") as member:
        raw = pd.read_csv(member, float_precision="round_trip")
    with zipfile.ZipFile(data / "raw" / "train.zip") as archive:
        for name, part in zip(("train", "test"), train_test_split(raw, test_size=0.1, random_state=0), strict=True):
            for new, old in enumerate(part["id"], 1):
                crystal = data / "public" / name / str(new) / "geometry.xyz"
                assert crystal.read_bytes() == archive.read(f"train/{old}/geometry.xyz")
            renumbered = part.assign(id=range(1, len(part) + 1))
            table = data / ("public/train.csv" if name == "train" else "private/test.csv")
            assert table.read_text() == renumbered.to_csv(index=False)


def _raw(folder: Path, ids: list[int], crystals: dict[int, bytes]) -> Path:
    """A raw folder: a row for each of ``ids``, and these crystals."""
    from mlecore.prepare import ZipWriter

    with ZipWriter(folder / "train.zip") as archive:
        for number, crystal in crystals.items():
            archive.add(f"train/{number}/geometry.xyz", crystal)
    with ZipWriter(folder / "train.csv.zip") as archive:
        rows = "".join(f"{number},0.5,0.5\n" for number in ids)
        archive.add("train.csv", f"id,{','.join(TARGETS)}\n{rows}".encode())
    for name in ("test.csv.zip", "test.zip"):
        with ZipWriter(folder / name) as archive:
            archive.add("unused", b"")
    return folder


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    raw = _raw(tmp_path, [1, 2, 3], {1: b"", 2: b""})
    with pytest.raises(DataError, match=r"train/3/geometry\.xyz"):
        NOMAD.prepare(raw, tmp_path / "public", tmp_path / "private")
    (raw / "test.zip").unlink()
    with pytest.raises(DataError, match=r"test\.zip is missing"):
        NOMAD.prepare(raw, tmp_path / "public2", tmp_path / "private2")


def test_each_row_of_a_repeated_id_has_its_crystal(tmp_path: Path) -> None:
    raw = _raw(tmp_path, [7, 8, 7, 7], {7: b"seven", 8: b"eight"})
    NOMAD.prepare(raw, tmp_path / "public", tmp_path / "private")
    crystals = [file.read_bytes() for file in sorted((tmp_path / "public").rglob("geometry.xyz"))]
    assert sorted(crystals) == [b"eight", b"seven", b"seven", b"seven"]


def test_scores(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    assert grade(answers, data, tmp_path) == 0
    assert grade(answers[TARGETS], data, tmp_path) == 0  # no id needed
    assert grade(answers.assign(id=7, note="x")[["note", *TARGETS[::-1], "id"]], data, tmp_path) == 0
    assert grade(answers.iloc[::-1], data, tmp_path) > 0  # paired by place
    off = answers.assign(**{TARGETS[0]: (answers[TARGETS[0]] + 1) * math.e - 1})  # one more in every logarithm
    assert math.isclose(grade(off, data, tmp_path), 0.5)
    grade(answers.assign(**{TARGETS[1]: True}), data, tmp_path)
    grade(answers.assign(**{TARGETS[1]: -0.5}), data, tmp_path)
    text = answers.astype({TARGETS[1]: object})
    text.loc[0, TARGETS[1]] = "1_0"
    assert grade(text, data, tmp_path) == grade(
        answers.assign(**{TARGETS[1]: [10, *answers[TARGETS[1]][1:]]}), data, tmp_path
    )


@pytest.mark.parametrize("value", [-1, -2.5, None, "inf", "1e400", "True", "big"])
def test_predictions_are_finite_numbers_above_minus_one(
    data: Path, answers: pd.DataFrame, tmp_path: Path, value: object
) -> None:
    bad = answers.astype({TARGETS[0]: object})
    bad.loc[3, TARGETS[0]] = value
    with pytest.raises(mlecore.InvalidSubmission, match=r"formation_energy_ev_natom|greater than -1"):
        grade(bad, data, tmp_path)
    with pytest.raises(mlecore.InvalidSubmission):
        NOMAD.check(tmp_path / "submission.csv", data / "public")


def test_rows_and_columns(data: Path, answers: pd.DataFrame, tmp_path: Path) -> None:
    for bad in (answers.iloc[1:], pd.concat([answers, answers]), answers.drop(columns=TARGETS[1]), answers.iloc[:0]):
        with pytest.raises(mlecore.InvalidSubmission):
            grade(bad, data, tmp_path)
