"""Edition v2: articles are text of ten digits, the test part is a week, and each customer is there exactly once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_h_and_m_personalized_fashion_recommendations as v1
from mlecore.hookspecs import hookimpl
from mlecore.metrics import map_at_k
from mlecore.prepare import ensure, ensure_unique, read_csv, write_csv
from mlecore.submissions import Format, Table, generic_check, refuse

if TYPE_CHECKING:
    from pandas import DataFrame

DAYS = 6  # back from the last day, which makes seven
_ARTICLES = re.compile(r"\s*(?:[0-9]{10}(?:\s+|$))*")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    """The answers have a row for each customer of the sample; those who bought nothing have no articles."""
    bought = v1.baskets(v1.split_purchases(raw, public, DAYS, dtype={"article_id": str}))
    v1.link_others(raw, public)
    customers = read_csv(raw / "sample_submission.csv", usecols=["customer_id"])
    ensure_unique(customers["customer_id"], "customers of sample_submission.csv")
    strangers = ~bought["customer_id"].isin(customers["customer_id"])
    ensure(not strangers.any(), f"sample_submission.csv lacks {strangers.sum():,} customers of the test days")
    ensure(bought["prediction"].map(_ARTICLES.fullmatch).all(), "articles of ten digits are expected in purchases")
    write_csv(customers.merge(bought, how="left", on="customer_id"), private / "answers.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """MAP@12 over the customers who bought something."""
    truth, predictions = format.read(submission, private / "answers.csv")
    _refuse_other_articles(predictions)
    bought = truth["prediction"] != ""
    asked, given = (table.loc[bought, "prediction"].tolist() for table in (truth, predictions))
    return map_at_k(asked, given, v1.RANKS)


@hookimpl
def check(submission: Table, sample: Table, format: Format) -> Sequence[str]:
    warnings = generic_check(format, submission, sample)
    _refuse_other_articles(format.read(submission, sample.frame())[1])
    return warnings


def _refuse_other_articles(predictions: DataFrame) -> None:
    import numpy as np

    cells = predictions["prediction"].tolist()
    bad = np.fromiter((_ARTICLES.fullmatch(cell) is None for cell in cells), bool, len(cells))
    refuse(predictions, "prediction", "articles of ten digits, separated by blanks", bad)


@hookimpl
def perfect(private: Path) -> DataFrame:
    answers = read_csv(private / "answers.csv", dtype=str, na_filter=False)
    return answers.assign(prediction=[" ".join(dict.fromkeys(cell.split())) for cell in answers["prediction"]])
