"""Edition v2: articles are text of ten digits, the test part is a week, and each customer is there exactly once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import mle_comp_h_and_m_personalized_fashion_recommendations as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import Format, Table, ensure, ensure_unique, map_at_k, read_csv, read_table, refuse, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

DAYS = 6  # back from the last day, which makes seven
_CUSTOMERS = {"customer_id": str}  # also if all of them had digits only in one of the tables
_ARTICLES = re.compile(r"\s*(?:[0-9]{10}(?:\s+|$))*")


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    """The answers have a row for each customer of the sample; those who bought nothing have no articles."""
    bought = v1.baskets(v1.split_purchases(raw, public, DAYS, dtype={"article_id": str, **_CUSTOMERS}))
    v1.link_others(raw, public)
    customers = read_table(raw / "sample_submission.csv", usecols=[*_CUSTOMERS], dtype=_CUSTOMERS)
    ensure_unique(customers["customer_id"], "customers of sample_submission.csv")
    strangers = len(bought.join(customers, how="anti", on="customer_id"))
    ensure(not strangers, f"sample_submission.csv lacks {strangers:,} customers of the test days")
    ensure(all(map(_ARTICLES.fullmatch, bought["prediction"])), "articles of ten digits are expected in purchases")
    answers = customers.join(bought, how="left", on="customer_id", maintain_order="left")
    write_csv(answers, private / "answers.csv")


@hookimpl
def grade(submission: Table, private: Path, format: Format) -> float:
    """MAP@12 over the customers who bought something."""
    truth, predictions = format.read(submission, private / "answers.csv")
    examine(predictions)
    bought = truth["prediction"] != ""
    asked, given = (table.loc[bought, "prediction"].tolist() for table in (truth, predictions))
    return map_at_k(asked, given, v1.RANKS)


@hookimpl
def examine(predictions: DataFrame) -> None:
    import numpy as np

    cells = predictions["prediction"].tolist()
    bad = np.fromiter((_ARTICLES.fullmatch(cell) is None for cell in cells), bool, len(cells))
    refuse(predictions, "prediction", "articles of ten digits, separated by blanks", bad)


@hookimpl
def perfect(private: Path) -> DataFrame:
    answers = read_csv(private / "answers.csv", dtype=str, na_filter=False)
    return answers.assign(prediction=[" ".join(dict.fromkeys(cell.split())) for cell in answers["prediction"]])
