"""Classes of one part only, drift between train and test, and shares of missing values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from mlecore_audit.finding import Finding, flag
from mlecore_audit.nearly import auroc
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
_LATER = 0.99  # AUC of a time alone by which the test part is later
_TIME = re.compile(r"(^|[_. ])(date|time|timestamp|year|month|week|day)s?($|[_. ])", re.IGNORECASE)
_DATE = r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ]|$)|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
_DAY_FIRST = r"(1[3-9]|2\d|3[01])[-/.]"
_PROBE, _MOSTLY = 200, 0.9


@frozen
class Drift:
    """How well a classifier tells train rows from test rows."""

    auc: float  # cross-validated
    low: float  # its lower confidence bound
    columns: tuple[str, ...]  # that differ most, with the AUC of each alone
    told: tuple[str, ...]  # names of those that differ by more than chance, or of the one that differs most
    later: str | None  # a date or time by which nearly all test rows come after the train rows
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
            fix="leave out rows of rare classes, or split so that both parts have each class",
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
    is_caution = drift.low >= _TOLD_APART[1] and drift.later is None
    later = f"; the test part is later by {drift.later!r}, as in a split by time" if drift.later else ""
    yield Finding(
        level="caution" if is_caution else "note",
        kind="drift",
        file=test.where,
        evidence=f"a classifier tells test rows from those of {train.where} with a cross-validated AUC of "
        f"{drift.auc:.3f} (at least {drift.low:.3f}; {drift.rows:,} rows drawn at random); most by "
        f"{', '.join(drift.columns)}{later}",
        fix=f"split at random, or leave out what differs: {flag('drop', drift.told)}" if is_caution else None,
    )


def _drawn(table: TableRows, columns: list[str]) -> DataFrame:
    """A random sample of rows, the same each time."""
    import pandas as pd

    rng = np.random.default_rng(0)
    kept: list[Any] = []
    for batch in table.batches(columns):
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
    areas = {name: auroc(np.nan_to_num(column, nan=-1e300), part == 1) for name, column in encoded.items()}
    alone = sorted(((max(area, 1 - area), name) for name, area in areas.items()), reverse=True)[:_SHOWN]
    most = [f"{name!r} ({area:.2f} alone)" for area, name in alone]
    told = [name for area, name in alone if area - _SIGMA * error > _TOLD_APART[0]] or [alone[0][1]]
    times = [name for name, area in areas.items() if area >= _LATER and (_is_time(test[name]) or _TIME.search(name))]
    return Drift(auc, auc - _SIGMA * float(error), tuple(most), tuple(told), next(iter(times), None), len(part))


def _is_time(column: Series[str]) -> bool:
    return bool(column[~column.isin(_ABSENT)].head(_PROBE).str.match(_DATE).mean() > _MOSTLY)


def _encoded(test: Series[str], train: Series[str]) -> NDArray[np.float64]:
    """Numbers as they are, sentences by their length, words by how frequent they are in both parts together."""
    import pandas as pd

    both = pd.concat([test, train], ignore_index=True)
    absent = both.isin(_ABSENT).to_numpy()
    numbers = numbers_of(both)
    if not np.isnan(numbers[~absent]).any():
        return np.where(np.isfinite(numbers), numbers, np.nan)
    if _is_time(both):
        when = pd.to_datetime(
            both.where(~absent),
            errors="coerce",
            format="mixed",
            dayfirst=bool(both.str.match(_DAY_FIRST).any()),
            utc=True,
        )
        return np.where(when.notna(), when.to_numpy("datetime64[s]").astype(float), np.nan)
    words = both.str.len() if is_text(both) else both.map(both.value_counts())
    values: NDArray[np.float64] = words.to_numpy(float).copy()
    values[absent] = np.nan
    return values
