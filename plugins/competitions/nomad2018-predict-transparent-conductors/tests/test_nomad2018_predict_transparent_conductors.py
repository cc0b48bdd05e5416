"""Nomad2018: its two numberings, its crystals, and rows that are paired by place."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from mlecore_testing import Trial

from mlecore.prepare import ZipWriter

pytestmark = pytest.mark.trial(size=0.2)

TARGETS = ["formation_energy_ev_natom", "bandgap_energy_ev"]


def raw(folder: Path, ids: list[int], crystals: dict[int, bytes]) -> Path:
    """A raw folder: a row for each of ``ids``, and these crystals."""
    with ZipWriter(folder / "train.zip") as archive:
        for number, crystal in crystals.items():
            archive.add(f"train/{number}/geometry.xyz", crystal)
    with ZipWriter(folder / "train.csv.zip") as archive:
        rows = "".join(f"{number},{number},0.5\n" for number in ids)
        archive.add("train.csv", f"id,{','.join(TARGETS)}\n{rows}".encode())
    for name in ("test.csv.zip", "test.zip"):
        (folder / name).write_bytes(b"")
    return folder


def test_each_part_is_numbered_from_1_and_keeps_its_crystals(trial: Trial, tmp_path: Path) -> None:
    ids = [*range(30, 40), 7, 7]  # each row of a repeated id has its crystal
    made = raw(tmp_path, ids, {number: str(number).encode() for number in ids})
    public, private = trial.prepare(made)
    for table, folder in ((public / "train.csv", "train"), (private / "test.csv", "test")):
        part = pd.read_csv(table)
        assert part["id"].tolist() == list(range(1, len(part) + 1))
        for number, old in zip(part["id"], part[TARGETS[0]], strict=True):
            assert (public / folder / str(number) / "geometry.xyz").read_text() == str(old)


def test_what_is_missing_is_named(trial: Trial, tmp_path: Path) -> None:
    made = raw(tmp_path, [1, 2, 3], {1: b"", 2: b""})
    trial.refuses_raw(made, r"train/3/geometry\.xyz")
    (made / "test.zip").unlink()
    trial.refuses_raw(made, r"test\.zip is missing")


def test_rows_are_paired_by_place(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers[TARGETS]) == 0  # no id needed
    assert trial.grade(answers.assign(id=7)) == 0
    assert trial.grade(answers[::-1]) > 0


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    off = answers.assign(**{TARGETS[0]: (answers[TARGETS[0]] + 1) * math.e - 1})  # one more in every logarithm
    assert math.isclose(trial.grade(off), 0.5)
    assert math.isfinite(trial.grade(answers.assign(**{TARGETS[1]: -0.9999999999999999})))
