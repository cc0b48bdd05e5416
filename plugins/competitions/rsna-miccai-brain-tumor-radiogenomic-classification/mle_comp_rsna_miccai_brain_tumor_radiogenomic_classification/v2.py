"""Edition v2: the cases with faulty scans are for training."""

from __future__ import annotations

from pathlib import Path

import mle_comp_rsna_miccai_brain_tumor_radiogenomic_classification as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ensure_unique, read_csv, split

FAULTY = ("00109", "00123", "00709")  # named by the hosts


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    import pandas as pd

    table = read_csv(raw / "train_labels.csv", dtype={v1.CASE: str, v1.TARGET: int})
    ensure_unique(table[v1.CASE], "cases of train_labels.csv")
    train, test = split(table[[v1.CASE, v1.TARGET]], test_size=0.1)
    faulty = test[v1.CASE].isin(FAULTY)
    v1.write_parts(raw, public, private, pd.concat([train, test[faulty]]), test[~faulty])
