"""Does a column of ids tell the target?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_STRONG = 0.1  # a weaker correlation tells next to nothing
_DEVIATIONS = 5.0  # of what chance gives
_CLASSES = 20  # that are tried one by one


def follows(ids: pl.Series, target: pl.Series) -> float | None:
    """The rank correlation of the ids' numbers (`P0012`: 12) with a target, or with one of its classes.

    None if it is weak or within chance, or if ids have no numbers.
    """
    import polars as pl

    numbers = ids.str.extract(r"(\d+)\D*$").cast(pl.Float64, strict=False)
    if numbers.null_count() > len(ids) / 2:
        return None
    values = target.cast(pl.Float64, strict=False)
    if values.null_count() > target.eq("").sum():
        codes = [(target == label).cast(pl.Float64) for label in sorted(target.unique().to_list())[:_CLASSES]]
    elif values.n_unique() <= _CLASSES:
        codes = [(values == value).cast(pl.Float64) for value in sorted(values.drop_nulls().unique().to_list())]
    else:
        codes = [values]
    least = max(_STRONG, _DEVIATIONS / max(1, len(ids)) ** 0.5)
    found = [
        pl.DataFrame({"a": numbers, "b": code}).drop_nulls().select(pl.corr("a", "b", method="spearman")).item()
        for code in codes
    ]
    best = max((each for each in found if each is not None and each == each), key=abs, default=0.0)
    return best if abs(best) > least else None
