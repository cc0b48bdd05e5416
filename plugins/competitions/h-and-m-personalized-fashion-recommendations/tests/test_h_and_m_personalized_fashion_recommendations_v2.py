"""H&M, edition v2: articles of ten digits, seven days, and customers who are there exactly once."""

from __future__ import annotations

import pandas as pd
import pytest

from mlecore_testing import Trial

pytestmark = pytest.mark.trial(edition="v2", size=0.3)


def purchases(folder: Trial) -> pd.DataFrame:
    return pd.read_csv(folder.public / "transactions_train.csv", dtype=str)


def test_articles_have_ten_digits_everywhere(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    assert set(purchases(trial_v1)["article_id"].str.len()) == {9}
    assert set(purchases(trial)["article_id"]) <= set(
        pd.read_csv(trial.public / "articles.csv", dtype=str)["article_id"]
    )
    assert trial_v1.grade((trial_v1.public / "sample_submission.csv").read_text()) == 0
    assert trial.grade((trial.public / "sample_submission.csv").read_text()) > 0
    assert trial.grade(perfect) == 1
    trial.refuses(perfect.assign(prediction=perfect["prediction"].str.replace(r"\b0", "", regex=True)), "ten digits")


def test_the_test_part_is_a_week(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    raw = pd.read_csv(trial.raw / "transactions_train.csv", dtype=str)
    days = sorted(raw["t_dat"].unique())
    assert set(days) - set(purchases(trial_v1)["t_dat"]) == set(days[-8:])
    assert set(days) - set(purchases(trial)["t_dat"]) == set(days[-7:])
    late = raw[raw["t_dat"] >= days[-7]]
    bought = {customer: set(some) for customer, some in late.groupby("customer_id")["article_id"]}
    for customer, articles in zip(perfect["customer_id"], perfect["prediction"], strict=True):
        assert set(articles.split()) == bought.get(customer, set())


def test_each_customer_is_there_once(trial: Trial, trial_v1: Trial, perfect: pd.DataFrame) -> None:
    best = trial_v1.competition.perfect(trial_v1.private)
    assert trial_v1.grade(pd.concat([best, best.head(1)])) < 1
    trial.refuses(pd.concat([perfect, perfect.head(1)]), "repeated")
    nothing = perfect["prediction"] == ""
    assert nothing.any()
    trial.refuses(perfect[~nothing], "missing")
    assert trial.grade(perfect.iloc[::-1]) == 1
