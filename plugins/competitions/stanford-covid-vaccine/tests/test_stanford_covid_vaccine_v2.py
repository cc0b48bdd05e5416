"""OpenVaccine, edition v2: rows go by their ids, similar molecules are on one side, all probabilities are public."""

from __future__ import annotations

import pandas as pd
import pytest
from mle_comp_stanford_covid_vaccine.v2 import clusters

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.5)


def molecules(trial: Trial, part: str) -> pd.DataFrame:
    return pd.read_json(trial.public / f"{part}.json", lines=True)


def nearest(trial: Trial) -> int:
    """The least number of bases in which a test molecule differs from a training one."""
    train = list(molecules(trial, "train")["sequence"])
    return min(
        sum(x != y for x, y in zip(a, b, strict=True))
        for a in molecules(trial, "test")["sequence"]
        for b in train
        if len(a) == len(b)
    )


def test_similar_molecules_are_on_one_side(trial: Trial, trial_v1: Trial) -> None:
    assert nearest(trial_v1) == 1
    assert nearest(trial) > 4  # of 20 bases
    counts = [len(molecules(each, "test")) for each in (trial_v1, trial)]
    assert 0.9 * counts[0] <= counts[1] <= counts[0]


def test_clusters_are_linked_through_others() -> None:
    a, b, c, d = "AAAAAAAAAA", "AAAAAAAACC", "AAAAAACCCC", "GGGGGGGGGG"
    found = clusters([a, d, c, "AAAA", b])
    assert found[0] == found[2] == found[4]
    assert len(set(found)) == 3


def test_probabilities_are_public(trial: Trial, trial_v1: Trial) -> None:
    assert not (trial_v1.public / "bpps").exists()
    ids = [id for part in ("train", "test") for id in molecules(trial, part)["id"]]
    assert {path.stem for path in (trial.public / "bpps").iterdir()} == set(ids)
    assert (trial.public / "bpps" / f"{ids[0]}.npy").read_bytes() == (trial.raw / "bpps" / f"{ids[0]}.npy").read_bytes()


def test_rows_may_be_in_any_order(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    v1 = pd.read_csv(trial_v1.private / "test.csv")
    assert trial_v1.grade(v1.sample(frac=1, random_state=0)) > 0.1
    assert trial.grade(answers.sample(frac=1, random_state=0)) == 0
