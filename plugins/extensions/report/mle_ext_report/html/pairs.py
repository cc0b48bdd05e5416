"""The differences of all pairs of setups as a triangle."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from mle_ext_report.cells import interval, p_value, rate_name
from mle_ext_report.compare import Comparison
from mle_ext_report.document import SetupSummary
from mle_ext_report.statistics import LEVEL


@frozen(kw_only=True)
class Cell:
    """The row's setup minus the column's, in percentage points. ``kind``: "better" or "worse" if p < 0.05."""

    difference: str
    p: str
    kind: str
    words: str


@frozen(kw_only=True)
class Triangle:
    """One row per setup but the last, one column per setup but the first; None below, and without a comparison."""

    rate: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    holm: bool


def triangle(comparisons: Sequence[Comparison], setups: Sequence[SetupSummary]) -> Triangle | None:
    """Rows and columns are in the order of ``setups``; None if nothing is compared."""
    by_pair = {frozenset((found.a, found.b)): found for found in comparisons if found.differences}
    if not by_pair:
        return None
    keys = [setup.key for setup in setups]
    first = next(iter(by_pair.values())).differences[0]
    return Triangle(
        rate=" or ".join(sorted({rate_name(found.goal) for found in by_pair.values()})),
        columns=tuple(keys[1:]),
        rows=tuple(
            (
                key,
                tuple(
                    _cell(by_pair.get(frozenset((key, other))), key, other) if at >= number else None
                    for at, other in enumerate(keys[1:])
                ),
            )
            for number, key in enumerate(keys[:-1])
        ),
        holm=first.p_holm is not None,
    )


def _cell(found: Comparison | None, key: str, other: str) -> Cell | None:
    if found is None:
        return None
    row = found.differences[0]
    sign = 1 if found.a == key else -1
    difference = sign * row.difference + 0.0  # no -0.0
    reach = row.interval and sorted(sign * end for end in row.interval)
    p = row.corrected_p
    where = f", {LEVEL} % interval {interval((reach[0], reach[1]))}" if reach else ""
    return Cell(
        difference=f"{difference:+.1f}",
        p=p_value(p),
        kind="" if p >= 0.05 else "better" if difference > 0 else "worse",
        words=f"{key} - {other}: {difference:+.1f} points{where}, p {p_value(p)}",
    )
