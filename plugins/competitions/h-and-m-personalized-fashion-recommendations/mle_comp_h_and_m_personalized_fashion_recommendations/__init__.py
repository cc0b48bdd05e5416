"""H&M Personalized Fashion Recommendations: what will each customer buy next?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlecore.errors import InvalidSubmission
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import (
    Table,
    columns_of,
    ensure,
    ensure_columns,
    ensure_unique,
    link_file,
    link_tree,
    map_at_k,
    read_answers,
    read_pieces,
    sorted_alike,
    write_csv,
)

if TYPE_CHECKING:
    import polars as pl
    from pandas import DataFrame, Series

TRANSACTIONS = ["t_dat", "customer_id", "article_id", "price", "sales_channel_id"]
ANSWER = ["customer_id", "prediction"]
DAYS = 7  # back from the last day, which makes eight
RANKS = 12


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    answers = baskets(split_purchases(raw, public, DAYS))
    ensure(len(answers), "nobody bought anything on the test days")
    ensure_unique(answers["customer_id"], "customers of the answers")
    write_csv(answers, private / "answers.csv")
    link_others(raw, public)


def link_others(raw: Path, public: Path) -> None:
    for name in ("sample_submission.csv", "articles.csv", "customers.csv"):
        link_file(raw / name, public / name)
    link_tree(raw / "images", public / "images")


def split_purchases(raw: Path, public: Path, days: int, **options: Any) -> pl.DataFrame:
    """Publish what was bought before the test days: the last day, and as many ``days`` before it.

    Returns customer and article of each purchase on those. ``options`` are those of ``read_pieces``.
    """
    import polars as pl

    path = raw / "transactions_train.csv"
    last = max(str(piece["t_dat"].max()) for piece in read_pieces(path, usecols=["t_dat"]))
    first = str(date.fromisoformat(last) - timedelta(days))
    bought: list[pl.DataFrame] = []

    def before() -> Iterator[pl.DataFrame]:
        """What was bought before the test days; what was bought on those is put by."""
        for piece in read_pieces(path, **options):
            ensure_columns(piece, TRANSACTIONS, "transactions_train.csv")
            ensure(not piece["t_dat"].null_count(), "transactions_train.csv has purchases without a date")
            late = piece["t_dat"] >= first
            bought.append(piece.filter(late).select("customer_id", "article_id"))
            yield piece.filter(~late)

    write_csv(before(), public / "transactions_train.csv")
    return pl.concat(bought, how="vertical_relaxed")


def baskets(bought: pl.DataFrame) -> pl.DataFrame:
    """A row a customer: the articles in file order, repeats kept."""
    import polars as pl

    articles = pl.col("article_id").cast(pl.String).str.join(" ")
    return bought.group_by("customer_id").agg(prediction=articles).sort("customer_id")


@hookimpl
def grade(submission: Table, private: Path) -> float:
    frame = columns_of(submission, ANSWER, only=True)
    truth = read_answers(private / "answers.csv", ANSWER)
    same = len(frame) == len(truth) and (frame["customer_id"].to_numpy() == truth["customer_id"].to_numpy()).all()
    if not truth["customer_id"].is_monotonic_increasing:  # which takes a second for a million
        truth = truth.sort_values("customer_id")
    predictions = frame if same else frame[frame["customer_id"].isin(truth["customer_id"])]
    missing = truth["customer_id"][:0] if same else _absent(truth["customer_id"], predictions["customer_id"])
    if len(missing):
        raise InvalidSubmission(f"the submission lacks {len(missing):,} of the customers, such as {missing.min()}")
    # sorted and paired by position, also where customers are repeated, as published
    if len(predictions) == len(truth):
        truth, predictions = sorted_alike(predictions, truth, "customer_id", compare=False)
    else:
        predictions = predictions.sort_values("customer_id").head(len(truth))
    asked, given = (table["prediction"].astype(str).tolist() for table in (truth, predictions))
    return map_at_k(asked, given, RANKS, single=True)


def _absent(here: Series, there: Series) -> Series:
    return here[~here.isin(there)]


@hookimpl
def examine(asked: DataFrame, predictions: DataFrame) -> Sequence[str]:
    warnings = []
    if again := int(predictions["customer_id"].duplicated().sum()):
        warnings.append(
            f"rows that repeat a customer: {again:,}; customers after such a row are compared with the wrong answers"
        )
    if zeros := int(predictions["prediction"].astype(str).str.contains(r"(?:^| )0\d").sum()):
        warnings.append(f"rows with leading zeros in articles: {zeros:,}; those never match, so write nine digits")
    if absent := len(_absent(asked["customer_id"], predictions["customer_id"])):
        warnings.append(f"customers that are missing: {absent:,}; the submission is invalid if one of them is scored")
    return warnings


@hookimpl
def perfect(private: Path) -> DataFrame:
    answers = read_answers(private / "answers.csv", ANSWER)
    return answers.assign(
        prediction=[" ".join(dict.fromkeys(text.split(" "))) for text in answers["prediction"].astype(str)]
    )
