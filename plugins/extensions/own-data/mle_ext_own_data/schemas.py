"""The schema of each column: what descriptions tell of it, and what synthetic data are made from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mle_ext_own_data.targets import MOST_CLASSES
from mlecore_toolkit.prepare.synthetic_tables import ColumnSchema

if TYPE_CHECKING:
    import polars as pl

_CATEGORIES = 50  # values of a category at most
_SHORT = 40  # characters of a category's values at most
_WORDY = 3  # words of a text on average
_STEPS = (0, 0.25, 0.5, 0.75, 1)
_MIXED = 0.95  # share of numbers in a column of text from which on it is meant to be one of numbers
_HEAD = 200
_TRUTH = ("True", "TRUE", "true", "False", "FALSE", "false")
_DECIMALS = 9
FORMS = (
    *("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M", "%Y/%m/%d"),
    *("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M"),
    *("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%d-%b-%Y", "%b %d, %Y", "%b %d %Y", "%m/%d/%y", "%Y-%m"),
)


def schema(column: pl.Series, *, file: bool = False, group: bool = False, target: bool = False) -> ColumnSchema:
    """Schema of one column of the raw table, which is not empty."""
    import polars as pl

    cells = column.drop_nulls()
    more: dict[str, Any] = {"missing": round(column.null_count() / column.len(), 4), "target": target}
    if file or group:
        prefix = "" if cells.dtype.is_numeric() or file else "g"
        suffix = _ending(cells) if file else ""
        low = float(cells.min()) if cells.dtype.is_integer() else None  # type: ignore[arg-type]
        each = 1.0 if file else max(1.0, cells.len() / cells.n_unique())
        return ColumnSchema(
            column.name, "file" if file else "id", low=low, prefix=prefix, suffix=suffix, rows_each=each, missing=0.0
        )
    if column.dtype == pl.Boolean or _truth(cells):
        if target:
            return _category(cells.cast(pl.String).alias(column.name), more)
        share = int((cells.cast(pl.String).str.to_lowercase() == "true").sum()) / cells.len()
        more["shares"] = (1 - share, share)
        return ColumnSchema(column.name, "boolean", **more)
    if column.dtype.is_numeric():
        distinct = cells.n_unique() if column.dtype.is_integer() else math.inf
        if distinct <= (MOST_CLASSES if target else 2):
            return _category(cells, more)
        if distinct == column.len() and not target:
            return ColumnSchema(column.name, "id", low=float(cells.min()), **more)  # type: ignore[arg-type]
        return _number(cells, more)
    if column.dtype.is_temporal():
        return _date(cells, "%Y-%m-%d" if column.dtype == pl.Date else "%Y-%m-%d %H:%M:%S", more)
    if not target and (form := date_form(column)) is not None:
        return _date(parsed(cells, form), form, more)
    if not target and (numbers := cells.str.strip_chars().cast(pl.Float64, strict=False).drop_nulls()).len() > (
        _MIXED * cells.len()
    ):
        return _number(numbers, {**more, "missing": round(1 - numbers.len() / column.len(), 4)})
    distinct = cells.n_unique()
    length, words = cells.str.len_chars().mean(), cells.str.count_matches(" ").mean()
    wordy = float(words or 0) + 1 >= _WORDY or float(length or 0) > _SHORT  # type: ignore[arg-type]
    if not target and wordy and distinct > _CATEGORIES:
        counts = cells.str.count_matches(r"\S+")
        low, high = (int(counts.quantile(share) or 0) for share in (0.05, 0.95))
        return ColumnSchema(column.name, "text", low=max(1, low), high=max(1, low, high), **more)
    if not target and distinct == column.len():
        return ColumnSchema(column.name, "id", **more)
    return _category(cells, more)


def _category(cells: pl.Series, more: dict[str, Any]) -> ColumnSchema:
    counts = cells.value_counts(sort=True).sort(["count", cells.name], descending=[True, False])
    most = counts if more["target"] else counts.head(_CATEGORIES)
    total = int(most["count"].sum())
    shares = tuple(max(1e-6, round(count / total, 6)) for count in most["count"].to_list())
    return ColumnSchema(cells.name, "category", values=tuple(most[cells.name].to_list()), shares=shares, **more)


def _number(cells: pl.Series, more: dict[str, Any]) -> ColumnSchema:
    import polars as pl

    if cells.dtype.is_integer():
        steps = _steps(cells)
        more["quantiles"] = tuple(map(round, steps))
        return ColumnSchema(cells.name, "integer", **more)
    finite = cells.filter(cells.is_finite())
    steps = _steps(finite) if finite.len() else (0.0, 1.0)
    head = finite.head(_HEAD).cast(pl.Float64).to_list()
    decimals = max((len(f"{value:.{_DECIMALS}f}".rstrip("0").partition(".")[2]) for value in head), default=3)
    more["quantiles"] = steps
    return ColumnSchema(cells.name, "number", decimals=decimals, **more)


def _steps(cells: pl.Series) -> tuple[float, ...]:
    """Its quantiles."""
    ordered = cells.sort()
    return tuple(float(ordered[round(share * (ordered.len() - 1))]) for share in _STEPS)


def _date(cells: pl.Series, form: str, more: dict[str, Any]) -> ColumnSchema:
    low, high = (str(end)[:19] for end in (cells.min(), cells.max()))
    return ColumnSchema(cells.name, "date", low=low, high=high, form=form.replace("%.f", ".%f"), **more)


def _ending(cells: pl.Series) -> str:
    ends = cells.cast(str).str.extract(r"(\.[A-Za-z0-9]{1,5})$").value_counts(sort=True)
    return str(ends[0, 0] or "")


def date_form(column: pl.Series) -> str | None:
    """The form of text that is dates in every cell, of FORMS; None: it is not."""
    import polars as pl

    if column.dtype != pl.String:
        return None
    cells = column.drop_nulls()
    head = cells.head(_HEAD)
    if not head.len() or not head.str.contains(r"^\d{1,4}[-/.]|^\d\d?-[A-Za-z]{3}-|^[A-Za-z]{3} \d").all():
        return None
    for form in FORMS:
        if parsed(head, form).null_count() == 0 and parsed(cells, form).null_count() == 0:
            return form
    return None


def parsed(column: pl.Series, form: str) -> pl.Series:
    """Text as times; null where it is not of the form."""
    import polars as pl

    if form == "%Y-%m":
        return (column + "-01").str.to_datetime("%Y-%m-%d", strict=False)
    if "%H" in form:
        return column.str.to_datetime(form, strict=False, time_unit="us").dt.replace_time_zone(None)
    return column.str.to_date(form, strict=False).cast(pl.Datetime)


def _truth(cells: pl.Series) -> bool:
    """Is it text that is true or false in every cell?"""
    import polars as pl

    text = cells.dtype == pl.String and cells.len() > 0
    return text and bool(cells.head(_HEAD).is_in(_TRUTH).all()) and bool(cells.is_in(_TRUTH).all())
