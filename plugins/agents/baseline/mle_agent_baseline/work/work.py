"""The worker: finds out what is asked, learns it, and writes the predictions in the sample's form.

``work.py HOME SAMPLE OUT``. Prints what it does; ends with 0 and a line ``model: ...``, or with 1 and a line
``no model: ...`` where it has no model for such data.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import data
import numpy as np
import pandas as pd
from data import Source
from features import Rows, features
from models import classify, regress
from problem import NoModel, Problem, spelled, understand, write

CLASSES = 300
FAMILIES = {
    "probability": "auc|log-?loss|kl-divergence|average-precision|gini|probabilistic",
    "number": "rmse|rmsle|squared|absolute-error|mae|correlation|spearman|pearson|r2|laplace",
    "class": "accuracy|kappa|f1|f0.5|f2|matthews|top-1-error|precision|recall",
}


def main() -> int:
    home, sample_path, out = map(Path, sys.argv[1:])
    sample = as_text(sample_path)
    print(f"sample: {len(sample)} rows of {', '.join(sample.columns[:8])}", flush=True)
    try:
        predictions, note = predict(home / "data", sample, json.loads(os.environ["BASELINE_TASK"]))
    except NoModel as error:
        print(f"no model: {error}")
        return 1
    write(sample, predictions, out)
    print(f"model: {note}", flush=True)
    return 0


def as_text(sample: Path) -> pd.DataFrame:
    """The sample submission, every cell as it is written."""
    source = Source(sample, None, sample.name, sample.stat().st_size)
    with source.text() as text:
        return pd.read_csv(text, sep=data.separator(source), dtype=str, keep_default_na=False)


def predict(folder: Path, sample: pd.DataFrame, task: dict[str, Any]) -> tuple[dict[str, np.ndarray], str]:
    """Values for the sample's columns, and what made them. Raises NoModel."""
    files = data.files(folder)
    problem = understand(files, sample, task["seed"])
    train, test, what, rows = features(problem, files, task["seed"])
    print(f"features: {what}; {len(train)} rows to learn from, {len(test)} to predict", flush=True)
    table = problem.train.iloc[rows]
    if problem.classes:
        codes = {name: code for code, name in enumerate(problem.classes)}
        labels = table[problem.targets[0]].map(spelled).map(codes).to_numpy(int)
        shares, note = classify(train, labels, len(codes), test, task["seed"])
        out = dict(zip(problem.classes, shares.T, strict=True))
    else:
        out, note = targets(problem, table, sample, train, test, task)
    asked = sample[list(out)].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    if len(out) > 1 and np.allclose(asked.sum(axis=1), 1, atol=1e-3):  # shares of the whole
        total = np.maximum(np.column_stack(list(out.values())), 1e-9)
        out = dict(zip(out, (total / total.sum(axis=1, keepdims=True)).T, strict=True))
    return out, f"{note} on {what}"


def targets(
    problem: Problem, table: pd.DataFrame, sample: pd.DataFrame, train: Rows, test: Rows, task: dict[str, Any]
) -> tuple[dict[str, np.ndarray], str]:
    """Values for each target: probabilities, numbers within the range seen, or classes spelled as in training."""
    out, note = {}, ""
    for name in problem.targets:
        column = table[name]
        goal = wanted(task["metric"], column, sample[name])
        values = pd.to_numeric(column.map({True: 1, False: 0, "True": 1, "False": 0}).fillna(column), errors="coerce")
        numbers = values.to_numpy(float)
        print(f"target {name}: {goal}", flush=True)
        if goal == "class":
            kinds = sorted(column.map(spelled).unique())
            if len(kinds) > CLASSES:
                raise NoModel(f"{name} has {len(kinds)} classes")
            codes = column.map(spelled).map({kind: code for code, kind in enumerate(kinds)}).to_numpy(int)
            if "kappa" in task["metric"].lower() and np.isfinite(numbers).all():  # grades in order
                guess, note = regress(train, numbers, test, task["seed"])
                out[name] = np.clip(np.rint(guess), numbers.min(), numbers.max()).astype(int)
            else:
                shares, note = classify(train, codes, len(kinds), test, task["seed"])
                out[name] = np.array(kinds, dtype=object)[shares.argmax(axis=1)]
        elif not np.isfinite(numbers).all():
            raise NoModel(f"{name} is not all numbers")
        elif goal == "probability" and set(numbers) <= {0, 1}:
            shares, note = classify(train, numbers.astype(int), 2, test, task["seed"])
            out[name] = shares[:, 1]
        else:
            logarithmic = "rmsle" in task["metric"].lower() and numbers.min() > -1
            guess, note = regress(train, np.log1p(numbers) if logarithmic else numbers, test, task["seed"])
            out[name] = np.clip(np.expm1(guess) if logarithmic else guess, numbers.min(), numbers.max())
    return out, note


def wanted(metric: str, target: pd.Series, asked: pd.Series) -> str:
    """One of "probability", "number", "class": by the metric's name, else by what the columns look like."""
    name = metric.lower().replace("_", "-").replace(" ", "-")
    for family, words in FAMILIES.items():
        if re.search(words, name):
            return family
    if target.nunique() > 20 and pd.to_numeric(target, errors="coerce").notna().all():
        return "number"
    shares = pd.to_numeric(asked, errors="coerce")
    return "probability" if shares.notna().all() and (shares % 1 != 0).any() else "class"


if __name__ == "__main__":
    sys.exit(main())
