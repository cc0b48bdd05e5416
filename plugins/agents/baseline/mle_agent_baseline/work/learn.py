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

FOLDS = 4
ROUNDS = 12  # of choosing a model to add to the blend
KEPT = 0.95  # of the rows that the final models see: which ones, the seed decides


@dataclass(frozen=True)
class Blend:
    """Predictions of the test rows (a column for each class, or one of values), and what made them."""

    values: np.ndarray
    note: str
    held: np.ndarray  # the same for the train rows, by models that did not see them; NaN where none was held out


def classify(
    train: Rows, labels: np.ndarray, classes: int, test: Rows, seed: int, seconds: float, ranked: bool = False
) -> Blend:
    """Probabilities of the classes 0, 1, ...; ``ranked``: only their order counts, so any model beats none."""
    return blend(classifiers(train, classes, seed), train, labels, test, classes, seed, seconds, ranked)


def regress(train: Rows, values: np.ndarray, test: Rows, seed: int, seconds: float) -> Blend:
    return blend(regressors(train, seed), train, values, test, 0, seed, seconds, False)


def blend(
    models: dict[str, Model],
    train: Rows,
    target: np.ndarray,
    test: Rows,
    classes: int,
    seed: int,
    seconds: float,
    ranked: bool,
) -> Blend:
    """Try the models, weigh them, fit those that count again; within about so many seconds."""
    # Of many processes on few CPUs, those with threads that wait for each other are the slowest.
    with threadpool_limits(1 if len(train) <= SMALL else None):
        folds = splits(target, classes, seed)
        guesses = tried(models, train, target, folds, seconds)
        asked = np.concatenate([ask for _, ask in folds])
        weights = weigh(guesses, target[asked], classes, ranked)
        held = np.full((len(target), max(1, classes)), np.nan)
        held[asked] = sum(weight * guesses[name] for name, weight in weights.items())

        rng = np.random.default_rng(seed)
        kept = np.flatnonzero(rng.random(len(train)) < KEPT) if len(train) > 200 else np.arange(len(train))
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
    """What each model predicts of the rows held out; of the later models none when a third of the time is spent."""
    began = time.monotonic()
    guesses: dict[str, np.ndarray] = {}
    for name, model in models.items():
        if len(guesses) > 1 and time.monotonic() - began > seconds / 3:
            print(f"no time to try {name}", flush=True)
            continue
        parts = [run(model, models, train, target, fit, train.take(ask)) for fit, ask in folds]
        guesses[name] = np.vstack(parts)
    return guesses


def run(
    model: Model, models: dict[str, Model], train: Rows, target: np.ndarray, fit: np.ndarray, ask: Rows
) -> np.ndarray:
    """Predictions of a model fitted on some rows; of the constant one where these are all of one kind."""
    known = target[fit]
    chosen = models["constant"] if (known == known[0]).all() else model
    return chosen(train.take(fit), known, ask)


def splits(target: np.ndarray, classes: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows to fit and rows to try: in turns for small data, once for large."""
    rows = np.zeros((len(target), 1))
    if classes and np.bincount(target)[np.unique(target)].min() >= FOLDS:
        folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(rows, target))
    else:
        folds = list(KFold(FOLDS, shuffle=True, random_state=seed).split(rows))
    return folds if len(target) <= SMALL else folds[:1]


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
    if ranked and set(chosen) == {"constant"}:
        chosen = [min((name for name in guesses if name != "constant"), key=lambda name: loss(guesses[name]))]
    return {name: chosen.count(name) / len(chosen) for name in dict.fromkeys(chosen)}
