"""What is inferred from a table, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from mle_ext_own_data.draft import Draft, Reading
from mle_ext_own_data.inference import Asked, infer
from mle_ext_own_data.reading import Rows

from mlecore.errors import UsageError

N = 200
RNG = np.random.RandomState(0)
FRAME = pl.DataFrame(
    {
        "visit_id": RNG.permutation(N) + 1000,
        "row_id": range(N),
        "patient": np.repeat(np.arange(40), 5),
        "qid": np.repeat(np.arange(20), 10),
        "date": [f"{1 + i % 28:02}/{1 + i // 20:02}/2023" for i in range(N)],
        "pulse": RNG.normal(70, 9, N).round(1),
        "note": [" ".join(RNG.choice(["was", "seen", "with", "pain", "in", "leg"], 12)) for _ in range(N)],
        "ill": RNG.choice(["yes", "no"], N, p=[0.2, 0.8]),
        "cured": RNG.randint(0, 2, N),
        "dead": RNG.randint(0, 2, N),
        "ward": RNG.choice(["A", "B", "C"], N),
        "common": ["A"] * 150 + ["B"] * 40 + ["C"] * 9 + ["D"],
        "digit": RNG.randint(0, 10, N),
        "quality": RNG.randint(3, 9, N),
        "relevance": RNG.choice([0, 1, 2], N, p=[0.6, 0.3, 0.1]),
        "claims": RNG.poisson(2, N),
        "cost": RNG.lognormal(3, 2.5, N),
        "ordered": np.sort(RNG.randint(0, 3, N)),
        "labels": ["|".join(RNG.permutation(["scab", "rust", "rot", "spot"])[: RNG.randint(1, 4)]) for _ in range(N)],
    }
)


def draft(*targets: str, frame: pl.DataFrame = FRAME, **asked: Any) -> Draft:
    rows = Rows(frame=frame, reading=Reading(kind="csv"), table=Path("/data/visits.csv"))
    return infer(rows, Asked(name="x", title="X", targets=targets, **asked))


@pytest.mark.parametrize(
    ("targets", "asked", "task", "metric", "by"),
    [
        (["ill"], {}, "binary", "roc-auc", "stratified"),
        (["ill"], {"metric": "accuracy"}, "binary", "accuracy", "stratified"),
        (["cured"], {"metric": "rmse"}, "regression", "rmse", "random"),
        (["ward"], {}, "multi-class", "accuracy", "stratified"),
        (["common"], {}, "multi-class", "macro-f1", "stratified"),
        (["digit"], {}, "multi-class", "accuracy", "stratified"),
        (["quality"], {}, "ordinal", "quadratic-weighted-kappa", "stratified"),
        (["claims"], {}, "regression", "rmse", "random"),
        (["cost"], {}, "regression", "rmsle", "random"),
        (["pulse", "cost"], {}, "regression", "rmse", "random"),
        (["cured", "dead"], {}, "multi-label", "mean-column-wise-roc-auc", "random"),
        (["labels"], {}, "multi-label", "mean-f1", "random"),
        (["relevance"], {"group": "qid"}, "ranking", "ndcg", "group"),
        (["relevance"], {"group": "patient"}, "multi-class", "accuracy", "group"),
        (["ill"], {"time": "date"}, "binary", "roc-auc", "time"),
    ],
)
def test_task_metric_and_split(targets: list[str], asked: dict[str, str], task: str, metric: str, by: str) -> None:
    found = draft(*targets, **asked)
    assert (found.task, found.metric.name, found.split.by) == (task, metric, by)


def test_labels_and_the_class_that_is_asked() -> None:
    assert (draft("ill").classes, draft("ill").positive) == (("no", "yes"), "yes")
    assert (draft("cured").positive, draft("cured").numeric_classes) == ("1", True)
    assert (draft("labels").classes, draft("labels").delimiter) == (("rot", "rust", "scab", "spot"), "|")


def test_an_id_that_tells_a_target_or_names_a_class_is_dropped() -> None:
    assert (draft("ill").id, draft("ill").drop) == ("visit_id", ())
    assert (draft("ordered").id, draft("ordered").drop) == ("visit_id", ("row_id",))
    alone = draft("ordered", frame=FRAME.drop("visit_id"))
    assert (alone.id, alone.drop) == (None, ("row_id",))
    asked = draft("pulse", "ordered", id="row_id")
    assert (asked.id, asked.drop) == (None, ("row_id",)) and "follows 'ordered'" in asked.reasons["id"]
    named = draft("ill", frame=FRAME.rename({"visit_id": "yes"}), id="yes")
    assert (named.id, named.drop) == (None, ("yes",))


def test_row_numbers_without_a_name_are_dropped() -> None:
    found = draft("ill", frame=FRAME.select(pl.int_range(N).alias("Unnamed: 0"), "pulse", "ill", "row_id"))
    assert (found.id, found.drop) == ("row_id", ("Unnamed: 0",))


def test_rows_without_a_target_are_left_out() -> None:
    known = pl.int_range(N) >= 20
    found = draft("ill", frame=FRAME.with_columns(pl.when(known).then("ill").alias("ill")))
    assert (found.rows, found.left_out) == (180, 20)
    infinite = pl.when(known).then("pulse").otherwise(float("inf")).alias("pulse")
    assert draft("pulse", frame=FRAME.with_columns(infinite)).left_out == 20


def test_the_form_of_dates_is_found() -> None:
    assert draft("ill", time="date").time_form == "%d/%m/%Y"


@pytest.mark.parametrize(
    ("targets", "asked", "message"),
    [
        ([], {}, "not named"),
        (["sick"], {}, "no such column"),
        (["ill"], {"id": "Visit"}, "no such column"),
        (["visit_id"], {}, "different in every row"),
        (["note"], {}, "different in every row"),
        (["ill"], {"id": "patient"}, "160 rows repeat one"),
        (["ill"], {"group": "ward"}, "there are only 3"),
        (["ill"], {"group": "visit_id"}, "each row has its own"),
        (["ill"], {"time": "note"}, "no time in a known form"),
        (["ill"], {"group": "patient", "time": "date"}, "cannot be used together"),
        (["ill"], {"test_size": 1.5}, "no share"),
        (["ill"], {"metric": "rmse"}, "does not fit"),
        (["pulse"], {"metric": "roc-auc"}, "does not fit"),
        (["ill", "cured"], {}, "holds text"),
        (["ill"], {"drop": tuple(name for name in FRAME.columns if name != "ill")}, "no column is left"),
    ],
)
def test_what_cannot_be_is_refused(targets: list[str], asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draft(*targets, **asked)


def test_odd_targets_are_refused() -> None:
    rare = FRAME.with_columns(pl.when(pl.int_range(N) == 7).then(pl.lit("x")).otherwise(pl.lit("y")).alias("ill"))
    for frame, message in (
        (FRAME.head(9), "10 are the least"),
        (FRAME.with_columns(ill=pl.lit("no")), "nothing to predict"),
        (FRAME.with_columns(pl.when(pl.int_range(N) > 150).then("ill").alias("ill")), "151 of 200 rows have no ill"),
        (rare, "only one row"),
    ):
        with pytest.raises(UsageError, match=message):
            draft("ill", frame=frame)


def test_names_that_are_near_are_suggested() -> None:
    with pytest.raises(UsageError, match="Did you mean 'quality'"):
        draft("Quallity")


def test_ten_thousand_columns_are_read_in_seconds() -> None:
    wide = pl.DataFrame({f"f{i}": RNG.rand(20) for i in range(10_000)}).with_columns(y=pl.int_range(20) % 2)
    assert len(draft("y", frame=wide).columns) == 10_001
