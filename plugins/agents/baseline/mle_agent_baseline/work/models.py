"""Predicts one target: boosted or random trees on the numbers, a linear model on numbers and words, averaged."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from features import Rows
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

warnings.filterwarnings("ignore")

SMALL = 5_000  # rows; more are boosted, fewer go to a forest
KEPT = 0.95  # of the rows are learned from: the seed decides which


def classify(train: Rows, labels: np.ndarray, classes: int, test: Rows, seed: int) -> tuple[np.ndarray, str]:
    """Probabilities of the classes 0, 1, ..., a column each, and the names of the models."""
    if len(np.unique(labels)) == 1:
        return np.eye(classes)[np.full(len(test), labels[0])], "constant"
    trees: Any = ExtraTreesClassifier(200, min_samples_leaf=2 if classes < 10 else 1, random_state=seed)
    if len(train) > SMALL and classes <= 15:
        trees = HistGradientBoostingClassifier(learning_rate=0.08, max_iter=300, early_stopping=True, random_state=seed)
    return average(trees, LogisticRegression(C=1.0, max_iter=300), train, labels, test, seed, classes)


def regress(train: Rows, values: np.ndarray, test: Rows, seed: int) -> tuple[np.ndarray, str]:
    """Values of one or several targets (a column each), and the names of the models."""
    trees: Any = ExtraTreesRegressor(100, min_samples_leaf=2, random_state=seed)
    if len(train) > SMALL and values.ndim == 1:
        trees = HistGradientBoostingRegressor(learning_rate=0.08, max_iter=300, early_stopping=True, random_state=seed)
    return average(trees, Ridge(alpha=10.0), train, values, test, seed, 0)


def average(
    trees: Any, linear: Any, train: Rows, target: np.ndarray, test: Rows, seed: int, classes: int
) -> tuple[np.ndarray, str]:
    """The mean of both; the trees alone for values, and the linear model alone where there are words."""
    kept = np.flatnonzero(np.random.default_rng(seed).random(len(train)) < KEPT) if len(train) > 200 else slice(None)
    fit, target = train.take(np.arange(len(train))[kept]), target[kept]
    known, asked = standard(fit.dense, test.dense)
    used: list[tuple[Any, Any, Any]] = []
    if fit.words is not None and test.words is not None:
        used.append((linear, stacked(known, fit.words), stacked(asked, test.words)))
    else:
        used.append((trees, known, asked))
        if classes:
            used.append((linear, known, asked))
    # Of many processes on few CPUs, those with threads that wait for each other are the slowest.
    with threadpool_limits(1 if len(train) <= SMALL else None):
        guesses = [predicted(model.fit(rows, target), others, classes) for model, rows, others in used]
    return np.mean(guesses, axis=0), " and ".join(type(model).__name__ for model, _, _ in used)


def standard(known: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean 0 and deviation 1 by the known rows, outliers cut, gaps filled; a column of 0 and 1 for each with gaps."""
    gaps = np.isnan(known).any(axis=0)
    middle = np.nan_to_num(np.nanmean(known, axis=0))
    spread = np.nan_to_num(np.nanstd(known, axis=0))
    spread[spread == 0] = 1.0
    both = []
    for values in (known, asked):
        whole = np.clip((np.where(np.isnan(values), middle, values) - middle) / spread, -8, 8)
        both.append(np.hstack([whole, np.isnan(values[:, gaps])]).astype(np.float32))
    return both[0], both[1]


def stacked(dense: np.ndarray, words: sparse.csr_matrix) -> sparse.csr_matrix:
    """Numbers, of little weight, beside counts of words."""
    return sparse.hstack([sparse.csr_matrix(dense * 0.1), words], format="csr")


def predicted(model: Any, asked: Any, classes: int) -> np.ndarray:
    """Values; or probabilities with a column for each class, also those that the model has not met."""
    if not classes:
        return np.asarray(model.predict(asked), dtype=float)
    out = np.full((asked.shape[0], classes), 1e-6)
    out[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(asked)
    shares: np.ndarray = out / out.sum(axis=1, keepdims=True)
    return shares
