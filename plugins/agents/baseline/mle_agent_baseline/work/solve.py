"""Predicts the columns that are asked for: gathers features, picks a kind of model for each, keeps values valid."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pictures
import sounds
from columns import features
from inventory import Inventory
from learn import Effort, classify, regress
from media import Files, Index, read
from models import Rows
from problem import NoModel, Problem, spelled, wants
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import cohen_kappa_score
from submit import probabilities
from words import condensed, counts

ENOUGH = 20  # columns of numbers in a table: its images are not looked at then
TEXTS = 60_000  # rows with text that are enough to learn from
CLASSES = 300
COLUMNS = 12  # targets that get their own models


def solve(
    problem: Problem, data: Inventory, task: dict[str, Any], until: float, files: Files | None = None
) -> tuple[dict[str, np.ndarray], str]:
    """Values for each column asked for, in the sample's order of rows, and what made them. Raises NoModel."""
    train, test, what, rows = gather(problem, data, task["seed"], until, files)
    print(f"features: {what}; {len(train)} rows to learn from, {len(test)} to predict", flush=True)
    table = problem.train.iloc[rows]
    if problem.classes:
        codes = {name: code for code, name in enumerate(problem.classes)}
        labels = table[problem.targets[0]].map(spelled).map(codes).to_numpy(int)
        result = classify(train, labels, len(codes), test, effort(task, until, 1))
        values = probabilities(result.values, together=problem.sample.sums_to_one(problem.classes))
        return dict(zip(problem.classes, values.T, strict=True)), f"{result.note} on {what}"
    if len(problem.targets) > COLUMNS:
        return many(problem, table, train, test, task), f"one forest for all columns on {what}"
    out = {}
    notes = []
    for place, target in enumerate(problem.targets):
        work = effort(task, until, len(problem.targets), place)
        goal = wants(task["metric"], table[target], problem.sample.table[target])
        print(f"target {target}: {goal}", flush=True)
        if goal == "probability":
            out[target], note = chance(table[target], train, test, task, work)
        elif goal == "number":
            out[target], note = number(table[target], train, test, task, work)
        else:
            out[target], note = label(table[target], train, test, task, work)
        notes.append(note)
    if problem.sample.sums_to_one(problem.targets) and all(values.dtype.kind == "f" for values in out.values()):
        values = probabilities(np.column_stack([out[name] for name in problem.targets]), together=True)
        out = dict(zip(problem.targets, values.T, strict=True))
    return out, f"{notes[0]}{' (first of several targets)' if len(notes) > 1 else ''} on {what}"


def effort(task: dict[str, Any], until: float, targets: int, done: int = 0) -> Effort:
    """What one of so many targets may take, when some are done."""
    seconds = 0.8 * (until - time.monotonic()) / (targets - done)
    return Effort(seed=task["seed"], seconds=seconds, turns=4 if targets <= 2 else 1)


def gather(
    problem: Problem, data: Inventory, seed: int, until: float, files: Files | None
) -> tuple[Rows, Rows, str, np.ndarray]:
    """Features of the train and test rows, what they are, and which rows of the train table these are."""
    found = features(problem.train, problem.test, problem.keys, problem.targets)
    rows = np.arange(len(problem.train))
    known = [np.empty((len(problem.train), 0), np.float32)]
    asked = [np.empty((len(problem.test), 0), np.float32)]
    what = []
    if found.names:
        dense = found.matrices()
        known.append(dense[0])
        asked.append(dense[1])
        what.append(f"{len(found.names)} columns")
    if found.texts and len(rows) > TEXTS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, TEXTS, replace=False))
        known = [part[rows] for part in known]
    words = counts([([train[row] for row in rows], test) for train, test in found.texts]) if found.texts else None
    if words:
        dense = condensed(*words, seed)
        known.append(dense[0])
        asked.append(dense[1])
        what.append(f"text ({words[0].shape[1]} words and parts)")
    kind, matched = ("", None) if len(found.names) >= ENOUGH or words else match(problem, data, files)
    if matched:
        reader = pictures.look if kind == "images" else sounds.listen
        try:
            seen, learned, rows = read(*matched, reader, 0.4 * (until - time.monotonic()), seed)
        except NoModel:
            if not what:
                raise
        else:
            known = [part[rows] for part in known] + [learned]
            asked.append(seen)
            what.append(kind)
    if not what:
        raise NoModel("nothing about the rows that this agent can read")
    train = Rows(np.hstack(known), words[0] if words else None)
    return train, Rows(np.hstack(asked), words[1] if words else None), " and ".join(what), rows


def match(problem: Problem, data: Inventory, files: Files | None) -> tuple[str, Files | None]:
    """The images or sounds of the rows, found by a column that names them."""
    if files:
        return ("images" if files[0][0] in set(data.images) else "sounds"), files
    for kind, sources in (("images", data.images), ("sounds", data.sounds)):
        index = Index(sources)
        for name in [*(key for key in problem.keys if key in problem.train.columns), *problem.train.columns]:
            if name in problem.test.columns and problem.train[name].dtype == object:
                train, test = index.column(problem.train[name], "train"), index.column(problem.test[name], "test")
                if train and test:
                    return kind, (train, test)
    return "", None


def chance(target: pd.Series, train: Rows, test: Rows, task: dict[str, Any], work: Effort) -> tuple[np.ndarray, str]:
    """The probability of 1 (or True)."""
    values = pd.to_numeric(target.map({True: 1, False: 0, "True": 1, "False": 0}).fillna(target), errors="coerce")
    if values.isna().any() or values.min() < 0 or values.max() > 1:
        raise NoModel(f"{target.name} is not a probability")
    if set(values.unique()) <= {0, 1}:
        ranked = "auc" in task["metric"].lower()
        result = classify(train, values.to_numpy(int), 2, test, work, ranked)
        return result.values[:, 1], result.note
    result = regress(train, values.to_numpy(float), test, work)
    return np.clip(result.values[:, 0], 0, 1), result.note


def number(target: pd.Series, train: Rows, test: Rows, task: dict[str, Any], work: Effort) -> tuple[np.ndarray, str]:
    """A value within the range that was seen; learned as a logarithm where the metric is one of logarithms."""
    values = pd.to_numeric(target, errors="coerce").to_numpy(float)
    if not np.isfinite(values).all():
        raise NoModel(f"{target.name} is not all numbers")
    logarithmic = "rmsle" in task["metric"].lower() and values.min() > -1
    result = regress(train, np.log1p(values) if logarithmic else values, test, work)
    out = np.expm1(result.values[:, 0]) if logarithmic else result.values[:, 0]
    return np.clip(out, values.min(), values.max()), result.note


def label(target: pd.Series, train: Rows, test: Rows, task: dict[str, Any], work: Effort) -> tuple[np.ndarray, str]:
    """A class, spelled as in the training table."""
    names = target.map(spelled)
    kinds = sorted(names.unique())
    if len(kinds) > CLASSES:
        raise NoModel(f"{target.name} has {len(kinds)} classes")
    if "kappa" in task["metric"].lower() and pd.api.types.is_integer_dtype(target):
        return grade(target.to_numpy(int), train, test, work)
    codes = {kind: code for code, kind in enumerate(kinds)}
    result = classify(train, names.map(codes).to_numpy(int), len(kinds), test, work)
    return np.array(kinds, dtype=object)[result.values.argmax(axis=1)], result.note


def grade(target: np.ndarray, train: Rows, test: Rows, work: Effort) -> tuple[np.ndarray, str]:
    """Grades in order, for kappa: a value, cut where the grades come out as often as in training, or rounded."""
    result = regress(train, target.astype(float), test, work)
    out, held = result.values[:, 0], result.held[:, 0]
    known = ~np.isnan(held)
    grades, often = np.unique(target, return_counts=True)
    bounds = np.quantile(held[known], np.cumsum(often)[:-1] / often.sum())

    def cut(values: np.ndarray) -> np.ndarray:
        return grades[np.searchsorted(bounds, values, side="right")]

    def rounded(values: np.ndarray) -> np.ndarray:
        return np.clip(np.round(values), grades[0], grades[-1]).astype(int)

    def kappa(guess: np.ndarray) -> float:
        return float(np.nan_to_num(cohen_kappa_score(target[known], guess, weights="quadratic")))

    better = cut if kappa(cut(held[known])) >= kappa(rounded(held[known])) else rounded
    return better(out), result.note


def many(problem: Problem, table: pd.DataFrame, train: Rows, test: Rows, task: dict[str, Any]) -> dict[str, np.ndarray]:
    """Many columns of numbers at once."""
    values = table[problem.targets].apply(pd.to_numeric, errors="coerce")
    if values.isna().any(axis=None):
        raise NoModel("the targets are not all numbers")
    target = values.to_numpy(float)
    chosen = np.random.default_rng(task["seed"]).permutation(len(train))[:20_000]
    forest = ExtraTreesRegressor(100, min_samples_leaf=3, n_jobs=-1, random_state=task["seed"])
    forest.fit(np.nan_to_num(train.dense[chosen]), target[chosen])
    out = np.clip(forest.predict(np.nan_to_num(test.dense)), target.min(axis=0), target.max(axis=0))
    return dict(zip(problem.targets, out.T, strict=True))
