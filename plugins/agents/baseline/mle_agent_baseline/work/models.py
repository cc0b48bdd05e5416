"""The models there are to choose from: trees, neighbours, linear models, each for numbers and for counts of words."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

FOREST_ROWS = 20_000
SMALL = 5_000  # rows
EVEN = 0.1  # the weight of a number beside the counts of words


@dataclass(frozen=True)
class Rows:
    """Features of some rows: numbers with gaps, and sparse counts of words (or None)."""

    dense: np.ndarray
    words: sparse.csr_matrix | None = None

    def __len__(self) -> int:
        return len(self.dense)

    def take(self, chosen: np.ndarray) -> Rows:
        return Rows(self.dense[chosen], None if self.words is None else self.words[chosen])


# From rows with their targets to predictions for other rows: a column for each class, or one of values.
Model = Callable[[Rows, np.ndarray, Rows], np.ndarray]


def classifiers(train: Rows, classes: int, seed: int) -> dict[str, Model]:
    """By name, the constant guess first, then in the order in which they are tried while there is time."""
    rows, columns = train.dense.shape
    models: dict[str, Model] = {"constant": frequencies(classes)}
    if train.words is not None:
        models["naive Bayes"] = words(lambda: MultinomialNB(alpha=0.1), classes)
        for strength in (1.0, 8.0):
            models[f"logistic regression C={strength:g}"] = scaled(logistic(strength), classes)
    if worth_boosting(rows, columns, classes):
        settings = boosting(rows, classes, seed)
        models["boosting"] = numbers(lambda: HistGradientBoostingClassifier(**settings), classes)
    if columns and rows <= FOREST_ROWS:
        leaf = 2 if classes < 10 else 1
        models["forest"] = numbers(lambda: ExtraTreesClassifier(100, min_samples_leaf=leaf, random_state=seed), classes)
    if train.words is None:
        if columns and rows <= SMALL:
            models["neighbours"] = scaled(lambda: KNeighborsClassifier(5, weights="distance"), classes)
        for strength in (0.02, 0.5):
            models[f"logistic regression C={strength:g}"] = scaled(logistic(strength), classes)
    return models


def regressors(train: Rows, seed: int) -> dict[str, Model]:
    rows, columns = train.dense.shape
    models: dict[str, Model] = {"constant": mean}
    if worth_boosting(rows, columns, 1):
        settings = boosting(rows, 1, seed)
        models["boosting"] = numbers(lambda: HistGradientBoostingRegressor(**settings), 0)
    if columns and rows <= FOREST_ROWS:
        models["forest"] = numbers(lambda: ExtraTreesRegressor(100, min_samples_leaf=2, random_state=seed), 0)
    for strength in (1.0, 100.0):
        models[f"ridge alpha={strength:g}"] = scaled(ridge(strength), 0)
    return models


def logistic(strength: float) -> Callable[[], Any]:
    return lambda: LogisticRegression(C=strength, max_iter=300)


def ridge(strength: float) -> Callable[[], Any]:
    return lambda: Ridge(alpha=strength)


def worth_boosting(rows: int, columns: int, classes: int) -> bool:
    """On few rows it is too slow for what it gains if there are many columns or classes."""
    if rows <= SMALL:
        return 0 < columns <= 150 and classes <= 3
    return columns > 0 and classes <= 15


def boosting(rows: int, classes: int, seed: int) -> dict[str, Any]:
    """Settings of gradient boosting for so many rows; each round grows a tree a class."""
    large = rows > SMALL
    return {
        "learning_rate": 0.08 if classes <= 3 else 0.15,
        "max_iter": 80 if not large else 400 if classes <= 3 else 150,
        "early_stopping": large,
        "max_features": 0.7,
        "min_samples_leaf": max(2, min(20, rows // 30)),
        "random_state": seed,
    }


def mean(fit: Rows, target: np.ndarray, ask: Rows) -> np.ndarray:
    return np.full((len(ask), 1), target.mean())


def frequencies(classes: int) -> Model:
    def run(fit: Rows, target: np.ndarray, ask: Rows) -> np.ndarray:
        counts = np.bincount(target, minlength=classes) + 1.0
        return np.tile(counts / counts.sum(), (len(ask), 1))

    return run


def numbers(make: Callable[[], Any], classes: int) -> Model:
    """A model of the numbers alone; one that knows no gaps gets them filled."""

    def run(fit: Rows, target: np.ndarray, ask: Rows) -> np.ndarray:
        model = make()
        known, asked = fit.dense, ask.dense
        if not hasattr(model, "max_bins"):
            known, asked = filled(known, known), filled(asked, known)
        return predicted(model.fit(known, target), asked, classes)

    return run


def scaled(make: Callable[[], Any], classes: int) -> Model:
    """A model of the numbers on one scale, beside the words where there are any."""

    def run(fit: Rows, target: np.ndarray, ask: Rows) -> np.ndarray:
        known, asked = standard(fit.dense, ask.dense)
        if fit.words is not None and ask.words is not None:
            known = sparse.hstack([sparse.csr_matrix(known * EVEN), fit.words], format="csr")
            asked = sparse.hstack([sparse.csr_matrix(asked * EVEN), ask.words], format="csr")
        return predicted(make().fit(known, target), asked, classes)

    return run


def words(make: Callable[[], Any], classes: int) -> Model:
    """A model of the words alone."""

    def run(fit: Rows, target: np.ndarray, ask: Rows) -> np.ndarray:
        return predicted(make().fit(fit.words, target), ask.words, classes)

    return run


def filled(values: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Gaps filled with the medians of ``by``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column of gaps only
        middle = np.nan_to_num(np.nanmedian(by, axis=0))
    return np.where(np.isnan(values), middle, values)


def standard(known: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean 0 and deviation 1 by the known rows, outliers cut; then a column of 0 and 1 for each column with gaps."""
    gaps = np.isnan(known).any(axis=0)
    base = filled(known, known)
    middle, spread = base.mean(axis=0), base.std(axis=0)
    spread[spread == 0] = 1.0
    out = []
    for values in (known, asked):
        whole = np.clip((filled(values, known) - middle) / spread, -8, 8)
        out.append(np.hstack([whole, np.isnan(values[:, gaps])]).astype(np.float32))
    return out[0], out[1]


def predicted(model: Any, asked: Any, classes: int) -> np.ndarray:
    """Probabilities with a column for each class, also those that the model has not met; or values in one column."""
    if not classes:
        return np.asarray(model.predict(asked), dtype=float).reshape(-1, 1)
    out = np.full((asked.shape[0], classes), 1e-6)
    out[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(asked)
    shares: np.ndarray = out / out.sum(axis=1, keepdims=True)
    return shares
