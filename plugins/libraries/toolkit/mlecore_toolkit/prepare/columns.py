"""One-hot columns and new numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mlecore.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pandas import DataFrame, Series


def one_hot(labels: Series, classes: Sequence[str]) -> DataFrame:
    """One column of integers per class, in the order of ``classes``: 1 where the label is that class, else 0.

    Keeps the rows and index of ``labels``. Raises DataError for a label that is not one of the classes.
    """
    import numpy as np
    import pandas as pd

    codes = pd.Index(classes).get_indexer(labels)
    if (codes < 0).any():
        raise DataError(f"label {labels[codes < 0].iloc[0]!r} is not one of the {len(classes)} classes")
    return pd.DataFrame(np.eye(len(classes), dtype=int)[codes], columns=list(classes), index=labels.index)


def renumber(values: Iterable[Any], start: int = 0) -> NDArray[np.intp]:
    """Number ``values`` from ``start`` in the order of first appearance; equal values get the same number."""
    import pandas as pd

    codes: NDArray[np.intp] = pd.factorize(pd.Series(values))[0]
    return codes + start
