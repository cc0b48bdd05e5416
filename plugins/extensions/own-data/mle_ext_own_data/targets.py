"""What is asked: the task, by the values of the target, and the metrics that fit it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from mle_ext_own_data.draft import Metric, Task
from mle_ext_own_data.metrics import METRICS
from mlecore.errors import UsageError
from mlecore.util.schema import brief

if TYPE_CHECKING:
    import polars as pl

MOST_CLASSES = 1000
_FEW = 20  # values of a target of whole numbers that can be classes
_LEAST = 10  # rows
_SCALE = re.compile(
    r"quality|rating|(^|_)rate(_|$)|stars?$|grade|score|severity|level|stage|rank|satisfaction|likert", re.I
)
_QUERY = re.compile(r"quer|qid|se?a?rch|session|request|impression|user|customer|list|^group", re.I)
_YES = {"yes", "y", "true", "t", "1", "1.0", "positive", "pos", "malignant", "churned", "spam", "ill", "sick"}
_BALANCED = 0.6  # share of the most frequent class up to which accuracy says enough
_SKEWED = 20  # 99th percentile over median of a regression whose ratios count
_DELIMITERS = "|;, "
_EVEN = 5  # the rarest code of classes has a share of at least this part of the mean; counts of things have rarer ones
_REPEATED = 3  # rows of a label on average


@frozen(kw_only=True)
class Target:
    """What is asked."""

    task: Task
    why: str
    metric: Metric
    why_metric: str
    metrics: Sequence[Metric]  # that fit
    classes: tuple[str, ...] = ()
    numeric: bool = False  # are the classes whole numbers?
    positive: str | None = None
    delimiter: str | None = None


def understand(frame: pl.DataFrame, names: Sequence[str], group: str | None, metric: str | None) -> Target:
    """The task and its metric, if there is one for these targets. Raises UsageError if there is none."""
    if frame.height < _LEAST:
        raise UsageError(
            f"{frame.height} row{'s' * (frame.height != 1)} with a target cannot be split: {_LEAST} are the least",
            fix="Name a table with more rows.",
        )
    fitting = _of_several(frame, names) if len(names) > 1 else list(_of_one(frame[names[0]], frame, group))
    if metric is None:
        return fitting[0]
    known = {found.name: (target, found) for target in reversed(fitting) for found in target.metrics}
    if metric not in known:
        fit = ", ".join(dict.fromkeys(found.name for target in fitting for found in target.metrics))
        raise UsageError(f"--metric {metric} does not fit {_listed(names)}: {fitting[0].why}", fix=f"These fit: {fit}")
    target, chosen = known[metric]
    why = target.why if target is fitting[0] else f"asked for by --metric {metric}"
    return evolve(target, metric=chosen, why_metric="asked for by --metric", why=why)


def _of_several(frame: pl.DataFrame, names: Sequence[str]) -> list[Target]:
    """Columns of 0 and 1, or of numbers."""
    columns = [numbers(frame[name]) for name in names]
    for name, column in zip(names, columns, strict=True):
        if column is None:
            raise UsageError(
                f"target {brief(name)} holds text, such as {brief(frame[name].drop_nulls().first())}",
                fix="Several targets are columns of 0 and 1, or of numbers. Name one target alone.",
            )
        if column.n_unique() < 2:
            raise UsageError(f"target {brief(name)} is {brief(column.first())} in every row", fix="Leave it out.")
    found = [column for column in columns if column is not None]
    if all(set(column.unique()) == {0, 1} for column in found):
        metrics = [metric for metric in METRICS["multi-label"] if metric.form == "probability"]
        why = f"{len(names)} targets of 0 and 1"
        return [_target("multi-label", why, metrics, "the usual one", classes=tuple(names))]
    return [_regression(found, f"{len(names)} targets of numbers")]


def _of_one(column: pl.Series, frame: pl.DataFrame, group: str | None) -> list[Target]:
    """Every reading of the target that makes sense, the likeliest first."""
    name, distinct, rows = column.name, column.n_unique(), column.len()
    if distinct == 1:
        raise UsageError(
            f"target {brief(name)} is {brief(column.first())} in every row: there is nothing to predict",
            fix="Name another --target, or add rows of another class.",
        )
    values = numbers(column)
    whole = values is not None and bool((values == values.round()).all())
    if distinct == rows and (values is None or whole) and rows > _FEW:
        raise UsageError(
            f"target {brief(name)} is different in every row, as an id is, such as {brief(column.first())}",
            fix="Name the column to predict: --target COLUMN",
        )
    if distinct == 2:
        binary = _binary(column, values)
        return [binary, *([_regression([values], "asked for")] if values is not None else [])]
    if values is None:
        return _of_text(column, distinct, rows)
    return _of_numbers(column, values, whole, distinct, group, frame)


def _of_numbers(
    column: pl.Series, values: pl.Series, whole: bool, distinct: int, group: str | None, frame: pl.DataFrame
) -> list[Target]:
    regression = _regression([values], f"{distinct:,} different numbers")
    if not whole or distinct > MOST_CLASSES:
        return [regression]
    low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
    span = f"whole numbers from {low:,} to {high:,}"
    labels = tuple(str(int(value)) for value in sorted(values.unique()))
    counts = values.value_counts()["count"]
    most = float(counts.max() or 0) / values.len()  # type: ignore[arg-type]
    grades = _labelled("ordinal", f"{span}, as on a scale", labels, most, numeric=True)
    classes = _labelled("multi-class", f"{span}, each for many rows, as codes of classes", labels, most, numeric=True)
    found = [classes, grades]
    few, dense = distinct <= _FEW, high - low + 1 == distinct
    graded = few and low >= 0 and distinct <= 11
    if graded and group is not None:
        why = f"{span} for the items of each {brief(group)}"
        ranking = _target("ranking", why, METRICS["ranking"], "the usual one of rankings")
        found.insert(0 if _QUERY.search(group) else 2, ranking)
    if not few:
        return [regression, *found]
    if _SCALE.search(column.name) or (dense and low > 1):
        found.remove(grades)
        found.insert(found.index(classes), grades)
    elif not dense or low not in (0, 1) or int(counts.min() or 0) < values.len() / distinct / _EVEN:  # type: ignore[arg-type]
        return [found[0], regression, *found[1:]] if found[0].task == "ranking" else [regression, *found]
    return [*found, regression]


def _of_text(column: pl.Series, distinct: int, rows: int) -> list[Target]:
    several = _labels(column)
    often = distinct <= MOST_CLASSES and distinct * 2 <= rows
    if not often and several is None:
        raise UsageError(
            f"target {brief(column.name)} is text with {distinct:,} different values in {rows:,} rows, "
            f"such as {brief(column.first())}",
            fix=f"Name a target of numbers, or of at most {MOST_CLASSES:,} classes with two rows or more each.",
        )
    found = [several] if several else []
    if often:
        counts = column.value_counts(sort=True)["count"]
        labels = tuple(sorted(map(str, column.unique())))
        most = float(counts[0]) / rows
        found.append(_labelled("multi-class", f"text with {distinct} different values", labels, most, numeric=False))
    return found


def _labels(column: pl.Series) -> Target | None:
    """Cells of several labels with a delimiter between them, such as "scab|rust"."""
    cells = Counter(column.drop_nulls().to_list())
    for delimiter in _DELIMITERS:
        parts = {cell: [part.strip() for part in cell.split(delimiter) if part.strip()] for cell in cells}
        several = sum(count for cell, count in cells.items() if len(parts[cell]) > 1)
        if several < max(2, column.len() / 50):
            continue
        labels = Counter({label: 0 for words in parts.values() for label in words})
        for cell, count in cells.items():
            labels.update(dict.fromkeys(parts[cell], count))
        alone = {words[0] for words in parts.values() if len(words) == 1}
        together = {label for words in parts.values() if len(words) > 1 for label in words}
        # "New York" and "Los Angeles" have no word that is a label of its own, a text has words that occur once
        repeated = sum(labels.values()) >= _REPEATED * len(labels) and len(labels) < len(cells)
        if len(labels) <= MOST_CLASSES and repeated and len(alone & together) * 2 >= len(together):
            metrics = [metric for metric in METRICS["multi-label"] if metric.form == "labels"]
            why = f"{len(labels)} labels, several in a cell with {brief(delimiter)} between them"
            words, classes = "the usual one for sets of labels", tuple(sorted(labels))
            return _target("multi-label", why, metrics, words, classes=classes, delimiter=delimiter)
    return None


def _binary(column: pl.Series, values: pl.Series | None) -> Target:
    labels = column.unique().sort().to_list()
    texts = [str(int(label)) if isinstance(label, float) and label.is_integer() else str(label) for label in labels]
    counts = column.value_counts(sort=True)
    rare, least = counts[column.name][1], int(counts["count"][1])
    if least < 2:
        raise UsageError(
            f"only one row has {brief(column.name)} = {brief(rare)}: each part of the split needs one",
            fix="Add rows of that class, or name another --target.",
        )
    yes = [text for text in texts if text.lower() in _YES]
    positive = yes[0] if len(yes) == 1 else texts[1] if values is not None else str(rare)
    numeric = values is not None and bool((values == values.round()).all())
    if values is not None and not numeric:  # 0.5 and 1.5 are no labels
        return _regression([values], "two different numbers")
    return _target(
        "binary",
        f"two different values, {' and '.join(texts)}",
        METRICS["binary"],
        "the usual one of two classes, whatever their shares",
        classes=tuple(texts),
        numeric=numeric and column.dtype.is_numeric(),
        positive=positive,
    )


def _labelled(task: Task, why: str, labels: tuple[str, ...], most: float, *, numeric: bool) -> Target:
    metrics, words = list(METRICS[task]), "the usual one of a scale" if task == "ordinal" else "the usual one"
    if task == "multi-class" and most > _BALANCED:
        metrics.sort(key=lambda metric: metric.name != "macro-f1")
        words = f"{most:.0%} of the rows are of one class, so accuracy would say little"
    return _target(task, why, metrics, words, classes=labels, numeric=numeric)


def _regression(columns: Sequence[pl.Series], why: str) -> Target:
    positive = all(float(column.min()) >= 0 for column in columns)  # type: ignore[arg-type]
    unfit = [name for name, fits in (("rmsle", positive), ("mae", len(columns) == 1)) if not fits]
    metrics = [metric for metric in METRICS["regression"] if metric.name not in unfit]
    ratios = [_quantile(column, 0.99) / _quantile(column, 0.5) for column in columns if _quantile(column, 0.5) > 0]
    words = "the usual one of numbers"
    if positive and len(ratios) == len(columns) and min(ratios) > _SKEWED:
        metrics.sort(key=lambda metric: metric.name != "rmsle")
        words = f"the greatest values are {min(ratios):.0f} times the usual one"
    return _target("regression", why, metrics, words)


def _target(task: Task, why: str, metrics: Sequence[Metric], why_metric: str, **more: Any) -> Target:
    return Target(task=task, why=why, metric=metrics[0], why_metric=why_metric, metrics=metrics, **more)


def _quantile(column: pl.Series, share: float) -> float:
    value: Any = column.quantile(share)
    return float(value)


def numbers(column: pl.Series) -> pl.Series | None:
    """As numbers; None: it is text or dates."""
    import polars as pl

    if column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    return column if column.dtype.is_numeric() else None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(brief, names))
