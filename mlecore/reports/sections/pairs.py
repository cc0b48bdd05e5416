"""The differences of pairs of setups."""

from __future__ import annotations

from collections.abc import Sequence

from mlecore.reports.cells import NONE, RATE_NAMES, interval, number, out_of, p_value
from mlecore.reports.compare import Comparison
from mlecore.reports.sections.section import FLAGGED, Section, section
from mlecore.reports.statistics import LEVEL


def pairs(comparisons: Sequence[Comparison], main: bool = False) -> Section:
    """A row per pair and rate; ``main``: only the rate that the setups were run for, the surest differences first."""
    chosen = sorted(comparisons, key=_p) if main else comparisons
    header = ["PAIR", "RATE", "COMPETITIONS", "FIRST %", "SECOND %", "DIFFERENCE", f"{LEVEL} % INTERVAL"]
    header += ["p", "SMALLEST p", "p (HOLM)", "WINS BY SCORE", f"{LEVEL} % INTERVAL OF WINS"]
    rows = [
        (
            f"{found.a} - {found.b}",
            RATE_NAMES[row.rate] + f", {FLAGGED}" * row.without_flagged,
            out_of(row.competitions, found.planned),
            f"{row.a:.1f}",
            f"{row.b:.1f}",
            f"{row.difference:+.1f}",
            interval(row.interval),
            p_value(row.p),
            NONE if main else p_value(row.smallest_p),
            NONE if row.p_holm is None else p_value(row.p_holm),
            number(found.a_wins, 2),
            NONE if main else interval(found.a_wins_interval, 2),
        )
        for found in chosen
        for row in found.differences[: 1 if main else None]
    ]
    notes = _not_compared(comparisons)
    without = [f"{found.a} - {found.b}" for found in comparisons if not found.competitions]
    if without:
        notes.append(f"Not compared, as no competition has graded runs of both: {', '.join(without)}.")
    if any(found.competitions < found.planned for found in comparisons):
        notes.append("Pairs are compared where both have graded runs; --pad-missing counts missing runs as failures.")
    return section("pairs", "Pairs of setups", header, rows, notes)


def _p(found: Comparison) -> tuple[float, float]:
    if not found.differences:
        return 2.0, 0.0
    first = found.differences[0]
    return first.p, -abs(first.difference)


def _not_compared(comparisons: Sequence[Comparison]) -> list[str]:
    """Reasons, each with the pairs that it concerns."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for comparison in comparisons:
        if comparison.differ:
            differ = "; ".join(f"{name}: {' | '.join(values)}" for name, values in comparison.differ.items())
            what = "Compared although" if comparison.differences else "Not comparable, as"
            mixable = not comparison.differences and "edition" not in comparison.differ
            reason = (what, differ, " --mix compares them anyway." if mixable else "")
            found.setdefault(reason, []).append(f"{comparison.a} - {comparison.b}")
    return [
        f"{what} conditions differ: {', '.join(keys)} ({differ}).{more}" for (what, differ, more), keys in found.items()
    ]
