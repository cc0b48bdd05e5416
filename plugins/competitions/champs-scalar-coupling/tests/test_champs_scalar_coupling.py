"""Predicting Molecular Properties: molecules without charges."""

from __future__ import annotations

import pandas as pd

from mlecore_testing import Trial


def test_a_molecule_without_a_charge_is_refused(trial: Trial) -> None:
    raw = trial.raw_copy()
    charges = pd.read_csv(raw / "mulliken_charges.csv")
    gone = pd.read_csv(trial.public / "train.csv")["molecule_name"][0]
    charges[charges["molecule_name"] != gone].to_csv(raw / "mulliken_charges.csv", index=False)
    trial.refuses_raw(raw, r"mulliken_charges.csv lacks 1 of the 54 molecules")
