"""The relation of familiarity to scores and age, recomputed by hand, and its table in a report."""

from __future__ import annotations

import itertools
from datetime import date
from statistics import fmean

import pytest
from mle_ext_familiarity.measured import Measured
from mle_ext_familiarity.probing import days
from mle_ext_familiarity.relation import ages, by_age, relate

from mlecore.errors import UsageError


def row(value: float, base: float, position: float | None, id: str = "x") -> Measured:
    return Measured(competition=id, measure="text", value=value, base=base, count=1, position=position)


def spearman(x: tuple[float, ...], y: tuple[float, ...]) -> float:
    """Without ties, by the formula of the squared differences of ranks."""
    ranks = [[sorted(values).index(value) for value in values] for values in (x, y)]
    n = len(x)
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(*ranks, strict=True)) / (n * (n * n - 1))


def test_a_relation_is_spearmans_with_an_exact_p() -> None:
    x, y = (0.3, 0.1, 0.5, 0.2, 0.4), (0.6, 0.2, 0.9, 0.1, 0.5)
    found = [row(a, 0.0, b) for a, b in zip(x, y, strict=True)]
    relation = relate([*found, row(0.9, 0.0, None)])[0]
    rho = spearman(x, y)
    all_rhos = [spearman(shuffled, y) for shuffled in itertools.permutations(x)]
    above = sum(value >= rho - 1e-9 for value in all_rhos) / len(all_rhos)
    below = sum(value <= rho + 1e-9 for value in all_rhos) / len(all_rhos)
    assert (relation.between, relation.competitions) == (("value", "position"), 5)
    assert relation.rho == pytest.approx(rho) and relation.p == pytest.approx(min(1.0, 2 * min(above, below)))


def test_competitions_are_parted_at_the_cutoff() -> None:
    cutoff = date(2023, 6, 1)
    values = [(0.9, date(2020, 1, 1)), (0.8, cutoff), (0.2, date(2023, 6, 2)), (0.1, date(2024, 1, 1))]
    found = ages("position", values, cutoff)
    assert (found.before, found.after, found.counts) == (pytest.approx(0.85), pytest.approx(0.15), (2, 2))
    # two-sided over the 6 ways to choose two of four: only the observed one and its mirror are as far apart
    gaps = [fmean(pair) for pair in itertools.combinations([0.9, 0.8, 0.2, 0.1], 2)]
    assert found.p == pytest.approx(2 * sum(gap >= 0.85 - 1e-9 for gap in gaps) / len(gaps))
    assert str(found) == "mean position by the cut-off 2023-06-01: 0.850 before (2), 0.150 after (2), p = 0.3333"


def test_competitions_without_a_day_or_a_position_are_left_out() -> None:
    found = [row(0.5, 0.1, None, "a"), row(0.4, 0.1, 0.3, "b"), row(0.3, 0.1, 0.3, "c")]
    difference, position = by_age(found, {"a": date(2020, 1, 1), "b": date(2020, 1, 1)}, date(2021, 1, 1))
    assert (difference.counts, difference.before) == ((2, 0), pytest.approx(0.35))
    assert (position.counts, position.after, position.p) == ((1, 0), None, None)


def test_days_are_read_from_a_table(tmp_path) -> None:
    path = tmp_path / "ended.csv"
    path.write_text("id,ended\na,2019-07-08\n")
    assert days(path) == {"a": date(2019, 7, 8)}
    for wrong in ("id,when\na,2019\n", "id,ended\na,July\n", "id,ended\na\n"):
        path.write_text(wrong)
        with pytest.raises(UsageError, match="needs the columns id and ended"):
            days(path)
