"""Classes of one part only, drift between train and test, and shares of missing values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from mlecore_audit.finding import Finding
from mlecore_audit.subject import Subject
from mlecore_audit.tables import numbers_of
from mlecore_audit.training import TableRows
from mlecore_audit.twins.tables import common_columns, is_text

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_MOST_CLASSES = 0.2  # classes per test row, above which a label is free text or a quantity
_UNSEEN = 0.01  # share of test rows with a class that cannot be learnt, for a caution
_SAMPLE = 10_000  # rows of a part that the classifier sees
_FOLDS = 3
_SIGMA = 4.0  # standard deviations from chance: one false alarm in 30,000
_TOLD_APART = 0.55, 0.9  # lower bounds of the AUC for a note and a caution
_MISSING = 0.05, 0.5  # differences of shares for a note and a caution
_ABSENT = {"", "nan", "NaN", "NA", "None", "null"}
_SHOWN = 3


@frozen
class Drift:
    """How well a classifier tells train rows from test rows."""

    auc: float  # cross-validated
    low: float  # its lower confidence bound
    columns: tuple[str, ...]  # that differ most, with the AUC of each alone
    rows: int  # of both parts together


def examine(subject: Subject) -> Iterator[Finding]:
    """Findings about labels and features; none is above caution, as none gives a label away."""
    if subject.train is not None:
        yield from _classes(subject, subject.train)
    for test in subject.tables("test"):
        for train in subject.tables("train"):
            yield from _features(subject, test, train)


def _classes(subject: Subject, train: DataFrame) -> Iterator[Finding]:
    """Two findings at most, over all targets."""
    unseen: list[tuple[float, str]] = []
    unused: list[tuple[float, str]] = []
    for target in subject.targets:
        if target not in train.columns or _is_quantity(subject.answers[target]):
            continue
        columns = subject.answers[target], train[target]
        wanted, known = (set(column[~column.isin(_ABSENT)].unique()) for column in columns)
        if len(wanted) > _MOST_CLASSES * len(columns[0]):
            continue
        for found, classes, column in ((unseen, wanted - known, columns[0]), (unused, known - wanted, columns[1])):
            if classes:
                rows = int(column.isin(classes).sum())
                words = (
                    f"{len(classes):,} of {target!r} such as {min(classes)!r} ({rows:,} rows, {rows / len(column):.1%})"
                )
                found.append((rows / len(column), words))
    if unseen:
        yield Finding(
            level="caution" if max(unseen)[0] >= _UNSEEN else "note",
            kind="labels",
            file=subject.facts.answers,
            evidence=f"no training row has some classes of test rows, which cannot be learnt: {_most(unseen)}",
        )
    if unused:
        yield Finding(
            level="note",
            kind="labels",
            file=subject.facts.answers,
            evidence=f"no test row has some classes of training rows; no score depends on them: {_most(unused)}",
        )


def _most(found: list[tuple[float, str]]) -> str:
    shown = [words for _, words in sorted(found, reverse=True)[:_SHOWN]]
    return "; ".join(shown) + (f"; and those of {len(found) - _SHOWN} more columns" if len(found) > _SHOWN else "")


def _is_quantity(labels: Series[str]) -> bool:
    """Numbers that are no classes: fractions, or many."""
    numbers = numbers_of(labels)
    finite = numbers[np.isfinite(numbers)]
    return len(finite) > 0.9 * len(numbers) and ((finite != np.round(finite)).any() or len(np.unique(finite)) > 50)


def _features(subject: Subject, test: TableRows, train: TableRows) -> Iterator[Finding]:
    subject.progress(0, 0, f"comparing {test.where} with {train.where}")
    columns = common_columns(test, train)
    if not columns:
        return
    parts = [_drawn(table, columns) for table in (test, train)]
    yield from _missing(test.where, *parts)
    drift = drift_of(*parts)
    if drift is None or drift.low < _TOLD_APART[0]:
        return
    yield Finding(
        level="caution" if drift.low >= _TOLD_APART[1] else "note",
        kind="drift",
        file=test.where,
        evidence=f"a classifier tells test rows from those of {train.where} with a cross-validated AUC of "
        f"{drift.auc:.3f} (at least {drift.low:.3f}; {drift.rows:,} rows drawn at random); most by "
        f"{', '.join(drift.columns)}",
    )


def _drawn(table: TableRows, columns: list[str]) -> DataFrame:
    """A random sample of rows, the same each time."""
    import pandas as pd

    rng = np.random.default_rng(0)
    kept: list[Any] = []
    for batch in table.batches():
        kept.append(batch[columns].assign(_draw=rng.random(len(batch))))
        if sum(map(len, kept)) > 3 * _SAMPLE:
            kept = [pd.concat(kept).nsmallest(_SAMPLE, "_draw")]
    drawn = pd.concat(kept).nsmallest(_SAMPLE, "_draw")
    return drawn.drop(columns="_draw").reset_index(drop=True)


def _missing(where: str, test: DataFrame, train: DataFrame) -> Iterator[Finding]:
    """Columns whose shares of missing values differ by more than chance; Bonferroni over the columns."""
    found = []
    for column in test.columns:
        share, other = (frame[column].isin(_ABSENT).mean() for frame in (test, train))
        mean = (share * len(test) + other * len(train)) / (len(test) + len(train))
        deviation = np.sqrt(mean * (1 - mean) * (1 / len(test) + 1 / len(train)))
        if abs(share - other) > max(_MISSING[0], _SIGMA * deviation):
            found.append((abs(share - other), f"{column!r} ({other:.0%} in train, {share:.0%} in test)"))
    if found:
        yield Finding(
            level="caution" if max(found)[0] >= _MISSING[1] else "note",
            kind="missing values",
            file=where,
            evidence=f"{len(found)} of {len(test.columns)} columns have other shares of missing values: {_most(found)}",
        )


def drift_of(test: DataFrame, train: DataFrame) -> Drift | None:
    """None for parts of too few rows, and for columns that all hold one value.

    The bound takes the standard error of an AUC of 0.5 (Mann and Whitney), which is the largest of any AUC.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from threadpoolctl import threadpool_limits

    if min(len(test), len(train)) < 10 * _FOLDS:
        return None
    encoded = {column: _encoded(test[column], train[column]) for column in test.columns}
    encoded = {column: values for column, values in encoded.items() if np.unique(values[np.isfinite(values)]).size > 1}
    if not encoded:
        return None
    features = np.column_stack(list(encoded.values()))
    part = np.repeat([1, 0], [len(test), len(train)])
    model = HistGradientBoostingClassifier(
        max_iter=50, max_leaf_nodes=15, max_bins=63, early_stopping=False, random_state=0
    )
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    with threadpool_limits(1):  # small trees: threads wait for each other, all the more on a busy machine
        predicted = cross_val_predict(model, features, part, cv=folds, method="predict_proba")[:, 1]
    auc = float(roc_auc_score(part, predicted))
    error = np.sqrt((len(part) + 1) / (12 * len(test) * len(train)))
    alone = [(_alone(column, part), name) for column, name in zip(features.T, encoded, strict=True)]
    most = [f"{name!r} ({auc:.2f} alone)" for auc, name in sorted(alone, reverse=True)[:_SHOWN]]
    return Drift(auc, auc - _SIGMA * float(error), tuple(most), len(part))


def _alone(values: NDArray[np.float64], part: NDArray[np.int64]) -> float:
    from sklearn.metrics import roc_auc_score

    auc = float(roc_auc_score(part, np.nan_to_num(values, nan=-1e300)))
    return max(auc, 1 - auc)


def _encoded(test: Series[str], train: Series[str]) -> NDArray[np.float64]:
    """Numbers as they are, sentences by their length, words by how frequent they are in both parts together."""
    import pandas as pd

    both = pd.concat([test, train], ignore_index=True)
    absent = both.isin(_ABSENT).to_numpy()
    numbers = numbers_of(both)
    if not np.isnan(numbers[~absent]).any():
        return np.where(np.isfinite(numbers), numbers, np.nan)
    words = both.str.len() if is_text(both) else both.map(both.value_counts())
    values: NDArray[np.float64] = words.to_numpy(float).copy()
    values[absent] = np.nan
    return values
