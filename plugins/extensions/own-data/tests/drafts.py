"""A table with features and a target of each kind, and drafts of competitions from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mle_ext_own_data.draft import Draft, Metric, Reading, Split

import mlecore
from mlecore_toolkit import ColumnSchema, hex_ids

ROWS, LOST = 300, 7
PRICE = 'price "in" €'
METRICS = {
    "label": ("accuracy", "accuracy", "maximize"),
    "ordinal": ("quadratic-weighted-kappa", "quadratic_weighted_kappa", "maximize"),
    "number": ("root-mean-squared-error", "rmse", "minimize"),
    "probability": ("roc-auc", "roc_auc", "maximize"),
    "mean probability": ("mean-roc-auc", "mean_roc_auc", "maximize"),
    "probabilities": ("log-loss", "log_loss", "minimize"),
    "labels": ("mean-f1", "mean_f1", "maximize"),
    "score": ("ndcg", "ndcg", "maximize"),
}


def metric(kind: str) -> Metric:
    name, function, direction = METRICS[kind]
    form: Any = {"ordinal": "label", "mean probability": "probability"}.get(kind, kind)
    return Metric(name=name, function=function, direction=direction, form=form, words=f"The {name}.", formula="Σ")


def table() -> pd.DataFrame:
    """Features with text that CSV and Markdown must quote, and a target of each kind that follows one of them."""
    rng = np.random.RandomState(0)
    x = rng.normal(size=ROWS).round(4)
    level = (x + rng.normal(scale=0.5, size=ROWS)).round(3)
    return pd.DataFrame(
        {
            "code": hex_ids(ROWS, 8),
            "x": x,
            "a|b `c`\n": rng.choice(["one, two", 'say "no"', "$name", ""], ROWS),
            "day": pd.date_range("2024-01-01", periods=ROWS).strftime("%d/%m/%Y"),
            "patient": [f"P{number}" for number in rng.randint(0, 40, ROWS)],
            "secret": level,
            PRICE: (1e5 + 1234.5678 * level + np.arange(ROWS) / 50).round(4),
            "churned": np.where(level > 0.3, "yes", "no"),
            "kind": np.where(
                np.arange(ROWS) < LOST, "", np.where(level > 0, "half full", np.where(level > -1, "None", "2"))
            ),
            "grade": pd.cut(level, [-9, -1, 0, 1, 9], labels=False),
            "tags": np.where(level > 0.5, "red;big", np.where(level < -0.5, "blue", "big")),
            "cold": (level < 0).astype(int),
            "wet": (level > 0.2).astype(int),
        }
    )


COLUMNS = (
    ColumnSchema("code", "id"),
    ColumnSchema("x", "number", low=-3, high=3),
    ColumnSchema("a|b `c`\n", "category", values=("one, two", 'say "no"', "$name"), missing=0.2),
    ColumnSchema("day", "date", low="2024-01-01", high="2024-10-01", form="%d/%m/%Y"),
    ColumnSchema("patient", "id", prefix="P", low=0, rows_each=7),
    ColumnSchema("secret", "number", low=-3, high=3),
    ColumnSchema(PRICE, "number", low=9e4, high=1.1e5),
    ColumnSchema("churned", "category", values=("no", "yes")),
    ColumnSchema("kind", "category", values=("None", "half full", "2")),
    ColumnSchema("grade", "integer", low=0, high=3),
    ColumnSchema("tags", "category", values=("red;big", "blue"), missing=0.3),
    ColumnSchema("cold", "integer", low=0, high=1),
    ColumnSchema("wet", "integer", low=0, high=1),
)
TARGETS = (PRICE, "churned", "kind", "grade", "tags", "cold", "wet")


def draft(folder: Path, targets: tuple[str, ...], **more: Any) -> Draft:
    """A draft of the table's features and these targets."""
    others = [name for name in TARGETS if name not in targets]
    path = folder / "own.csv"
    if not path.exists():
        table().drop(columns=others).to_csv(path, index=False)
    values: dict[str, Any] = {
        "name": "my-own",
        "title": "My Own",
        "table": path,
        "reading": Reading(kind="csv"),
        "files": None,
        "file_column": None,
        "file_suffix": "",
        "modality": "tabular",
        "id": None,
        "targets": targets,
        "delimiter": None,
        "task": "regression",
        "classes": (),
        "numeric_classes": False,
        "positive": None,
        "metric": metric("number"),
        "split": Split(by="random", column=None, test_size=0.25),
        "group": None,
        "time": None,
        "time_form": None,
        "drop": ("secret",),
        "rows": ROWS,
        "left_out": 0,
        "columns": tuple(column for column in COLUMNS if column.name not in others),
        "reasons": {},
    }
    return Draft(**(values | more))


def prepared(competition: mlecore.Competition, folder: Path) -> tuple[Path, Path]:
    """(public, private) of the real data."""
    raw, public, private = (folder / name for name in ("raw", "public", "private"))
    for made in (raw, public, private):
        made.mkdir(parents=True)
    competition.fetch(raw)
    competition.prepare(raw, public, private)
    return public, private
