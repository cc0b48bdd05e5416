"""The audit of a written package names a leak that its owner's table has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drafts import prepared
from mle_ext_own_data import folders
from mle_ext_own_data.inference import Asked, infer
from mle_ext_own_data.writing import write_competition

from mlecore.data.prepared import Prepared
from mlecore_audit.run import findings
from mlecore_audit.subject import Subject


def breast_cancer() -> pd.DataFrame:
    datasets = pytest.importorskip("sklearn.datasets")
    return datasets.load_breast_cancer(as_frame=True).frame


def with_groups(rng: np.random.Generator) -> pd.DataFrame:
    """Ten samples of each patient, all of them ill or well."""
    frame = breast_cancer()
    patient = np.arange(len(frame)) // 10
    mixed = frame.assign(target=frame["target"].sample(frac=1, random_state=0).to_numpy()[patient], patient=patient)
    return mixed.sample(frac=1, random_state=1)


PLANTED: dict[str, tuple[Callable[[np.random.Generator], pd.DataFrame], str, str, str | None]] = {
    "clean": (lambda rng: breast_cancer(), "answers", "", None),
    "duplicates": (
        lambda rng: pd.concat([breast_cancer(), breast_cancer().sample(250, random_state=0)]).assign(
            record=lambda frame: rng.permutation(len(frame))
        ),
        "twins",
        "have the same values",
        "keep one of each",
    ),
    "a column that tells": (
        lambda rng: breast_cancer().assign(paid=lambda frame: frame["target"] * 3 + rng.normal(size=len(frame)) * 0.5),
        "answers",
        "'paid' alone tells 'target'",
        "--drop paid",
    ),
    "groups": (with_groups, "groups", "column 'patient' has", "--group patient"),
}


@pytest.mark.slow
@pytest.mark.parametrize("leak", PLANTED)
def test_a_planted_leak_is_named_and_a_clean_table_has_none(leak: str, install, tmp_path: Path) -> None:
    plant, check, words, fix = PLANTED[leak]
    path = tmp_path / "cells.csv"
    plant(np.random.default_rng(0)).to_csv(path, index=False)
    asked = Asked(name="my-own", title="My Own", targets=("target",))
    written = write_competition(infer(folders.read(path, None), asked), tmp_path / "packages")
    competition = install(written)
    prepared(competition, tmp_path / "real")
    data = Prepared(competition="my-own", synthetic=False, root=tmp_path / "real")
    found = list(findings(Subject(competition, data), check))
    assert all(each.level == "note" for each in found) == (leak == "clean"), found
    if fix is not None:
        assert any(words in each.evidence and fix in (each.fix or "") for each in found), found
