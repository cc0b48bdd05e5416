"""The sample submission, and predictions written in its form: its columns, rows, order, and kind of values."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

PROBABILITY = ("auc", "auroc", "log-loss", "logloss", "kl-divergence", "average-precision", "gini", "probabilistic")
NUMBER = ("rmse", "rmsle", "squared", "absolute-error", "mae", "correlation", "spearman", "pearson", "r2", "laplace")
CLASS = ("accuracy", "kappa", "f1", "f0.5", "f2", "matthews", "top-1-error", "precision", "recall")


def family(metric: str) -> str:
    """What a metric wants to see: "probability", "number", "class", or "unknown"."""
    name = metric.lower().replace("_", "-").replace(" ", "-")
    for wanted, words in (("probability", PROBABILITY), ("number", NUMBER), ("class", CLASS)):
        if any(word in name for word in words):
            return wanted
    return "unknown"


@dataclass(frozen=True)
class Sample:
    """The sample submission as text."""

    table: pd.DataFrame

    @property
    def columns(self) -> list[str]:
        return list(self.table.columns)

    def numbers(self, column: str) -> np.ndarray | None:
        """A column's values; None if they are no numbers."""
        values = pd.to_numeric(self.table[column], errors="coerce").to_numpy(float)
        return None if np.isnan(values).any() else values

    def sums_to_one(self, columns: list[str]) -> bool:
        if len(columns) < 2:
            return False
        values = [self.numbers(column) for column in columns]
        if any(column is None for column in values):
            return False
        return bool(np.allclose(np.sum(values, axis=0), 1.0, atol=1e-3))  # type: ignore[arg-type]


def probabilities(values: np.ndarray, together: bool) -> np.ndarray:
    """Rows of probabilities, within [0, 1]; adding up to 1 where they must."""
    values = np.clip(np.nan_to_num(values, nan=0.5), 0.0, 1.0)
    if together:
        values = np.maximum(values, 1e-9)
        values = values / values.sum(axis=1, keepdims=True)
    return values


def write(sample: Sample, predictions: dict[str, np.ndarray], path: Path) -> None:
    """The sample with the predicted columns in the place of its own. Raises ValueError for what would be invalid."""
    table = sample.table.copy()
    for column, values in predictions.items():
        if len(values) != len(table):
            raise ValueError(f"{len(values)} predictions of {column} for {len(table)} rows")
        if np.issubdtype(np.asarray(values).dtype, np.floating) and not np.isfinite(values).all():
            raise ValueError(f"a prediction of {column} is not finite")
        table[column] = values
    # Python before 3.13 does not quote a lone carriage return, and readers take it for the end of a row.
    texts = [table[name] for name in table.columns if table[name].dtype == object]
    odd = any(text.str.contains("\r", regex=False).any() for text in texts)
    table.to_csv(path, index=False, quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL)
