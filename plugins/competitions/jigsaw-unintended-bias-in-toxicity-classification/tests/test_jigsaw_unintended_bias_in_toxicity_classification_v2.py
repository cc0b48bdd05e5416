"""Jigsaw Unintended Bias, edition v2: predictions are ranked as they are."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from mle_comp_jigsaw_unintended_bias_in_toxicity_classification import IDENTITIES
from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.3)


def test_ranks_on_one_side_of_a_half_count(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    low = answers[["id"]].assign(prediction=answers["toxicity"] / 4)
    assert trial_v1.grade(low) == 0.5
    assert trial.grade(low) == 1


def test_an_auc_of_0_is_no_error(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    wrong = answers[["id"]].assign(prediction=(answers["toxicity"] < 0.5).astype(int))
    trial_v1.refuses(wrong, "AUC of male is 0")
    assert trial.grade(wrong) == 0


def test_predictions_are_numbers_under_their_name(trial: Trial, trial_v1: Trial, answers: pd.DataFrame) -> None:
    gap = answers[["id"]].assign(prediction=[math.nan, *[1.0] * (len(answers) - 1)])
    assert math.isfinite(trial_v1.grade(gap))
    trial.refuses(gap, "prediction")
    trial.refuses(answers[["id", "toxicity"]], "lacks 1 column: 'prediction'")


def test_comments_are_text(trial: Trial, trial_v1: Trial) -> None:
    tables = [pd.read_csv(each.public / "test.csv", keep_default_na=False) for each in (trial, trial_v1)]
    assert "NA" in set(tables[0]["comment_text"]) and "NA" not in set(tables[1]["comment_text"])


def auc(positive: list[float], negative: list[float]) -> float:
    order = sorted((value, kind) for kind, some in enumerate((negative, positive)) for value in some)
    wins = below = 0.0
    place = 0
    while place < len(order):
        same = [kind for value, kind in order[place:] if value == order[place][0]]
        wins += sum(same) * (below + (len(same) - sum(same)) / 2)
        below += len(same) - sum(same)
        place += len(same)
    return wins / (len(positive) * len(negative))


@pytest.mark.slow
def test_it_agrees_with_the_definition(trial: Trial) -> None:
    rng = np.random.default_rng(0)
    truth = pd.DataFrame(rng.choice([0.0, 0.5, 1.0], (80, 9)), columns=IDENTITIES)
    truth.insert(0, "toxicity", rng.choice([0.0, 0.49, 0.5, 1.0], 80))
    truth.insert(0, "id", range(80))
    toxic = (truth["toxicity"] >= 0.5).tolist()
    for _ in range(200):
        given = rng.integers(0, rng.choice([3, 1000]), 80) / 1000
        parts: dict[str, list[float]] = {"subgroup": [], "bpsn": [], "bnsp": []}
        for name in IDENTITIES:
            about = (truth[name] >= 0.5).tolist()
            for kind, chosen in (
                ("subgroup", list(about)),
                ("bpsn", [here != bad for here, bad in zip(about, toxic, strict=True)]),
                ("bnsp", [here == bad for here, bad in zip(about, toxic, strict=True)]),
            ):
                rows = [row for row, here in enumerate(chosen) if here]
                parts[kind].append(
                    auc([given[row] for row in rows if toxic[row]], [given[row] for row in rows if not toxic[row]])
                )
        means = [(sum(value**-5 for value in some) / 9) ** (-1 / 5) for some in parts.values()]
        overall = auc(given[toxic].tolist(), given[[not bad for bad in toxic]].tolist())
        score = trial.grade(truth[["id"]].assign(prediction=given), truth)
        assert abs(score - (overall + sum(means)) / 4) < 1e-9
