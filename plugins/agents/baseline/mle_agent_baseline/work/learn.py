"""Weighs models by what they predict of rows held out, and lets their blend predict the test rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from models import SMALL, Model, Rows, classifiers, regressors
from sklearn.model_selection import KFold, StratifiedKFold
from threadpoolctl import threadpool_limits

warnings.filterwarnings("ignore")

ROUNDS = 12  # of choosing a model to add to the blend
KEPT = 0.95  # of the rows that the final models see: which ones, the seed decides


@dataclass(frozen=True)
class Blend:
    """Predictions of the test rows (a column for each class, or one of values), and what made them."""

    values: np.ndarray
    note: str
    held: np.ndarray  # the same for the train rows, by models that did not see them; NaN where none was held out


@dataclass(frozen=True)
class Effort:
    """How much to do for one target."""

    seed: int
    seconds: float
    turns: int  # parts of small data that are held out one after the other


def classify(train: Rows, labels: np.ndarray, classes: int, test: Rows, effort: Effort, ranked: bool = False) -> Blend:
    """Probabilities of the classes 0, 1, ...; ``ranked``: only their order counts, so any model beats none."""
    return blend(classifiers(train, classes, effort.seed), train, labels, test, classes, effort, ranked)


def regress(train: Rows, values: np.ndarray, test: Rows, effort: Effort) -> Blend:
    return blend(regressors(train, effort.seed), train, values, test, 0, effort, False)


def blend(
    models: dict[str, Model], train: Rows, target: np.ndarray, test: Rows, classes: int, effort: Effort, ranked: bool
) -> Blend:
    """Try the models, weigh them, and fit those that count again."""
    # Of many processes on few CPUs, those with threads that wait for each other are the slowest.
    with threadpool_limits(1 if len(train) <= SMALL else None):
        folds = splits(target, classes, effort)
        guesses = tried(models, train, target, folds, effort.seconds)
        asked = np.concatenate([ask for _, ask in folds])
        weights = weigh(guesses, target[asked], classes, ranked)
        held = np.full((len(target), max(1, classes)), np.nan)
        held[asked] = sum(weight * guesses[name] for name, weight in weights.items())

        chosen = np.random.default_rng(effort.seed).random(len(train)) < KEPT
        kept = np.flatnonzero(chosen) if len(train) > 200 else np.arange(len(train))
        values = sum(weight * run(models[name], models, train, target, kept, test) for name, weight in weights.items())
    note = ", ".join(f"{weight:.0%} {name}" for name, weight in sorted(weights.items(), key=lambda item: -item[1]))
    return Blend(np.asarray(values), note, held)


def tried(
    models: dict[str, Model],
    train: Rows,
    target: np.ndarray,
    folds: list[tuple[np.ndarray, np.ndarray]],
    seconds: float,
) -> dict[str, np.ndarray]:
    """What each model predicts of the rows held out.

    No further model is tried when a third of the time is spent, and one that took so long itself is not used: it would
    have to be fitted once more.
    """
    began = time.monotonic()
    guesses: dict[str, np.ndarray] = {}
    for name, model in models.items():
        before = time.monotonic()
        if guesses and before - began > seconds / 3:
            print(f"no time to try {name}", flush=True)
            continue
        parts = [run(model, models, train, target, fit, train.take(ask)) for fit, ask in folds]
        if guesses and time.monotonic() - before > seconds / 3:
            print(f"no time to use {name}", flush=True)
            continue
        guesses[name] = np.vstack(parts)
    return guesses


def run(
    model: Model, models: dict[str, Model], train: Rows, target: np.ndarray, fit: np.ndarray, ask: Rows
) -> np.ndarray:
    """Predictions of a model fitted on some rows; of the constant one where these are all of one kind."""
    known = target[fit]
    chosen = models["constant"] if (known == known[0]).all() else model
    return chosen(train.take(fit), known, ask)


def splits(target: np.ndarray, classes: int, effort: Effort) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows to fit and rows to try: in turns for small data, once for large."""
    rows = np.zeros((len(target), 1))
    if classes and np.bincount(target)[np.unique(target)].min() >= 4:
        folds = list(StratifiedKFold(4, shuffle=True, random_state=effort.seed).split(rows, target))
    else:
        folds = list(KFold(4, shuffle=True, random_state=effort.seed).split(rows))
    return folds[: effort.turns] if len(target) <= SMALL else folds[:1]


def weigh(guesses: dict[str, np.ndarray], truth: np.ndarray, classes: int, ranked: bool) -> dict[str, float]:
    """Greedy: in each round the model whose addition helps most, the same one again if need be."""

    def loss(guess: np.ndarray) -> float:
        if classes:
            return float(-np.log(np.clip(guess[np.arange(len(truth)), truth], 1e-9, 1)).mean())
        return float(((guess[:, 0] - truth) ** 2).mean())

    chosen: list[str] = []
    total = np.zeros_like(guesses["constant"])
    for step in range(1, ROUNDS + 1):
        best = min(guesses, key=lambda name: loss((total + guesses[name]) / step))
        chosen.append(best)
        total = total + guesses[best]
    others = [name for name in guesses if name != "constant"]
    if ranked and set(chosen) == {"constant"} and others:
        chosen = [min(others, key=lambda name: loss(guesses[name]))]
    return {name: chosen.count(name) / len(chosen) for name in dict.fromkeys(chosen)}
