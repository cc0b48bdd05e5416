"""Edition v2: the structures of all molecules are public, and a type's error has Kaggle's floor."""

from __future__ import annotations

from pathlib import Path

import mle_comp_champs_scalar_coupling as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, link_files, read_answers, read_csv, write_csv

LEAST = 1e-9


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    v1.prepare(raw, public, private)
    test = set(read_csv(public / "test.csv")["molecule_name"])
    asked = test | set(read_csv(public / "train.csv")["molecule_name"])
    structures = read_csv(raw / "structures.csv")
    missing = asked.difference(structures["molecule_name"])
    ensure(not missing, f"structures.csv lacks {len(missing)} of the {len(asked)} molecules")
    (public / "structures.csv").unlink()
    write_csv(structures[structures["molecule_name"].isin(asked)], public / "structures.csv")
    link_files(raw / "structures", public / "structures", sorted(f"{name}.xyz" for name in test))


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """The mean over types of ln(max(mean absolute error, 1e-9)), as on Kaggle's page."""
    import numpy as np

    truth, predictions = format.read(submission, read_answers(private / "answers.csv", ["id", "type", v1.TARGET]))
    errors = (truth[v1.TARGET] - predictions[v1.TARGET]).abs().groupby(truth["type"]).mean()
    return float(np.log(errors.clip(lower=LEAST)).mean())
