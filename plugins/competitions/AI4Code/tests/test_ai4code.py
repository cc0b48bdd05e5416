"""AI4Code: a test part that must be filled, and swaps that are counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mle_comp_ai4code import inversions
from mlecore_testing import Trial

pytestmark = pytest.mark.slow  # 20,000 notebooks


def test_the_sample_has_the_cells_as_they_are_shown(trial: Trial, answers: pd.DataFrame) -> None:
    sample = pd.read_csv(trial.public / "sample_submission.csv")
    assert sample["id"].tolist() == answers["id"].tolist()
    notebook = json.loads((trial.public / "test" / f"{sample['id'][7]}.json").read_text())
    assert sample["cell_order"][7].split() == list(notebook["cell_type"]) == list(notebook["source"])


def test_notebooks_of_one_origin_are_on_one_side(trial: Trial, answers: pd.DataFrame) -> None:
    ancestors = pd.read_csv(trial.raw / "train_ancestors.csv").set_index("id")["ancestor_id"]
    assert ancestors.duplicated().any()
    train = pd.read_csv(trial.public / "train_ancestors.csv")["ancestor_id"]
    assert not set(train) & set(ancestors[answers["id"]])


def test_too_few_notebooks_are_refused(trial: Trial, tmp_path: Path) -> None:
    for name in ("train_ancestors.csv", "train_orders.csv"):
        pd.read_csv(trial.raw / name).head(50).to_csv(tmp_path / name, index=False)
    trial.refuses_raw(tmp_path, "hold 50 for testing, expected 20,000")


def test_inversions() -> None:
    rng = np.random.default_rng(0)
    for lengths in ([0], [1, 1], [3, 0, 5], rng.integers(0, 70, 50)):
        lists = [rng.permutation(length) for length in lengths]
        swaps = sum(int((ranks[i] > ranks[i:]).sum()) for ranks in lists for i in range(len(ranks)))
        assert inversions(np.array(lengths), np.concatenate(lists).astype(np.int64)) == swaps
    repeated = [2, 2, 0, 1, 1, 0]
    assert inversions(np.array([6]), np.array(repeated)) == 4 + 4 + 1 + 1


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers.assign(cell_order=answers["cell_order"].str.replace(" ", "\u00a0 "))) == 1
    back = answers.assign(cell_order=[" ".join(cells.split()[::-1]) for cells in answers["cell_order"]])
    assert trial.grade(back.sample(frac=1, random_state=1)) == -1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda cells: "", "another number of cells: 1"),
        (lambda cells: f"{cells} more", "another number of cells"),
        (lambda cells: " ".join([cells.split()[0], *cells.split()[:-1]]), "lacks the cell"),
    ],
)
def test_other_cells_are_refused(trial: Trial, answers: pd.DataFrame, change: object, reason: str) -> None:
    answers.loc[5, "cell_order"] = change(answers["cell_order"][5])  # type: ignore[operator]
    trial.refuses(answers, f"cell_order of {answers['id'][5]} .*{reason}|{reason}")
