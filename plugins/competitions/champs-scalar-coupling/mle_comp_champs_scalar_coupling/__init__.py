"""Predicting Molecular Properties: how atoms of a molecule couple magnetically."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Format,
    Table,
    ensure,
    ensure_columns,
    ensure_disjoint,
    link_files,
    read_answers,
    read_table,
    split_blocks,
    write_csv,
)

TARGET = "scalar_coupling_constant"
COLUMNS = ["id", "molecule_name", "atom_index_0", "atom_index_1", "type", TARGET]
TABLES = [
    "structures",
    "dipole_moments",
    "magnetic_shielding_tensors",
    "mulliken_charges",
    "potential_energy",
    "scalar_coupling_contributions",
]


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    pairs = read_table(raw / "train.csv")
    ensure_columns(pairs, COLUMNS, "train.csv")
    train, test = split_blocks(pairs, "molecule_name", test_size=0.1)
    molecules = train["molecule_name"].unique()
    ensure_disjoint(molecules, test["molecule_name"], "molecules of train and test")
    ensure_disjoint(train["id"], test["id"], "ids of train and test")
    write_csv(train, public / "train.csv")
    write_csv(test, private / "answers.csv")
    write_csv(test.drop(TARGET), public / "test.csv")
    write_csv(test.select("id", **{TARGET: 0}), public / "sample_submission.csv")
    for name in TABLES:
        table = read_table(raw / f"{name}.csv")
        table = table.filter(table["molecule_name"].is_in(molecules.implode()))
        missing = len(molecules) - table["molecule_name"].n_unique()
        ensure(missing == 0, f"{name}.csv lacks {missing} of the {len(molecules)} molecules to train on")
        write_csv(table, public / f"{name}.csv")
    # structures of test molecules are left out, as published
    link_files(raw / "structures", public / "structures", sorted(f"{name}.xyz" for name in molecules))


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean over types of ln(mean absolute error): minus infinity where a type is perfect, as published."""
    import numpy as np
    import pandas as pd

    truth, predictions = format.read(submission, read_answers(private / "answers.csv", ["id", "type", TARGET]))
    types = pd.factorize(truth["type"])[0]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        errors = np.bincount(types, weights=(truth[TARGET] - predictions[TARGET]).abs()) / np.bincount(types)
        return float(np.log(errors).mean())
