"""Nomad2018: its two numberings, its crystals, and rows that are paired by place."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.testing import Trial, check_competition

NOMAD = mlecore.competition("nomad2018-predict-transparent-conductors")
TARGETS = ["formation_energy_ev_natom", "bandgap_energy_ev"]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("nomad2018-predict-transparent-conductors", tmp_path_factory.mktemp("nomad"), size=0.2)


@pytest.fixture
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "test.csv")


@pytest.mark.slow
def test_conformance() -> None:
    check_competition("nomad2018-predict-transparent-conductors")


def test_each_part_is_numbered_from_1_and_keeps_its_crystals(trial: Trial) -> None:
    from sklearn.model_selection import train_test_split

    with zipfile.ZipFile(trial.raw / "train.csv.zip") as archive, archive.open("train.csv") as member:
        raw = pd.read_csv(member, float_precision="round_trip")
    with zipfile.ZipFile(trial.raw / "train.zip") as archive:
        for name, part in zip(("train", "test"), train_test_split(raw, test_size=0.1, random_state=0), strict=True):
            for new, old in enumerate(part["id"], 1):
                crystal = trial.public / name / str(new) / "geometry.xyz"
                assert crystal.read_bytes() == archive.read(f"train/{old}/geometry.xyz")
            renumbered = part.assign(id=range(1, len(part) + 1))
            table = trial.folder / ("public/train.csv" if name == "train" else "private/test.csv")
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


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 0
    assert trial.grade(answers[TARGETS]) == 0  # no id needed
    assert trial.grade(answers.assign(id=7, note="x")[["note", *TARGETS[::-1], "id"]]) == 0
    assert trial.grade(answers.iloc[::-1]) > 0  # paired by place
    off = answers.assign(**{TARGETS[0]: (answers[TARGETS[0]] + 1) * math.e - 1})  # one more in every logarithm
    assert math.isclose(trial.grade(off), 0.5)
    trial.grade(answers.assign(**{TARGETS[1]: True}))
    trial.grade(answers.assign(**{TARGETS[1]: -0.5}))
    text = answers.astype({TARGETS[1]: object})
    text.loc[0, TARGETS[1]] = "1_0"
    assert trial.grade(text) == trial.grade(answers.assign(**{TARGETS[1]: [10, *answers[TARGETS[1]][1:]]}))


@pytest.mark.parametrize("value", [-1, -2.5, None, "inf", "1e400", "True", "big"])
def test_predictions_are_finite_numbers_above_minus_one(trial: Trial, answers: pd.DataFrame, value: object) -> None:
    bad = answers.astype({TARGETS[0]: object})
    bad.loc[3, TARGETS[0]] = value
    with pytest.raises(mlecore.InvalidSubmission, match=r"formation_energy_ev_natom|greater than -1"):
        trial.grade(bad)


def test_rows_and_columns(trial: Trial, answers: pd.DataFrame) -> None:
    for bad in (answers.iloc[1:], pd.concat([answers, answers]), answers.drop(columns=TARGETS[1]), answers.iloc[:0]):
        with pytest.raises(mlecore.InvalidSubmission):
            trial.grade(bad)
