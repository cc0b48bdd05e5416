"""OpenVaccine, edition v2: rows go by their ids, similar molecules are on one side, all probabilities are public."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mle_comp_stanford_covid_vaccine.v2 import clusters
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.5)
TARGETS = ["reactivity", "deg_Mg_pH10", "deg_pH10", "deg_Mg_50C", "deg_50C"]
SCORED = ["reactivity", "deg_Mg_pH10", "deg_Mg_50C"]


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


def test_every_value_must_be_a_number(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    last = len(answers) - 1  # a position that is not scored
    gap = {"deg_50C": [math.nan if place == last else v for place, v in enumerate(answers["deg_50C"])]}
    assert math.isfinite(trial_v1.grade(pd.read_csv(trial_v1.private / "test.csv").assign(deg_50C=math.nan)))
    trial.refuses(answers.assign(**gap), "deg_50C")


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial, answers: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    scored = answers[answers["keep"]]
    for _ in range(200):
        given = answers[["id_seqpos"]].assign(**{name: rng.normal(size=len(answers)) for name in TARGETS})
        by_id = given.set_index("id_seqpos")
        columns = []
        for name in SCORED:
            pairs = zip(scored["id_seqpos"], scored[name], strict=True)
            columns.append(math.sqrt(math.fsum((by_id.at[id, name] - y) ** 2 for id, y in pairs) / len(scored)))
        score = trial.competition.grade(given.sample(frac=1, random_state=1), trial.private)
        assert abs(score - math.fsum(columns) / 3) < 1e-9
