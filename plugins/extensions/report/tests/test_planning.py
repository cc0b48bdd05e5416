"""The chance to tell setups apart, and competitions that stand for all, against independent computations."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from mle_ext_report.planning import power
from mle_ext_report.planning.power import Model
from mle_ext_report.planning.subsets import choose
from mle_ext_report.sign_flips import p_values, sign_flips
from mle_ext_report.statistics import paired_difference

from mlecore.cli import main
from mlecore_testing import drawn_groups

KEYS = tuple("ABCDEFGHIJKL")


def report(*words: str):
    return CliRunner().invoke(main, ["report", *words])


def test_many_reports_have_the_p_of_one() -> None:
    rng = np.random.default_rng(0)
    for seeds, competitions in ((1, 6), (1, 75), (3, 22), (5, 40), (10, 9)):
        drawn = rng.integers(-seeds, seeds + 1, (8, competitions)) * (rng.random((8, competitions)) < 0.6)
        one_by_one = [sign_flips([Fraction(int(d), seeds) for d in row]).p for row in drawn]
        assert p_values(drawn) == pytest.approx(one_by_one, abs=1e-9)
    assert list(p_values(np.zeros((2, 4), dtype=int))) == [1.0, 1.0]


def test_power_of_independent_runs_is_exact() -> None:
    """All ways in which one run each of two setups can end on 22 competitions, by their probabilities."""
    high, low, competitions = 0.7, 0.3, 22
    wins, losses = high * (1 - low), low * (1 - high)
    exact = sum(
        math.comb(competitions, a)
        * math.comb(competitions - a, b)
        * wins**a
        * losses**b
        * (1 - wins - losses) ** (competitions - a - b)
        for a in range(competitions + 1)
        for b in range(competitions + 1 - a)
        if a + b and 2 * sum(math.comb(a + b, k) for k in range(max(a, b), a + b + 1)) / 2 ** (a + b) < 0.05
    )
    model = Model(low=low, high=high, setups=0.0, seeds=0.0, alike_setups=0.5, alike_seeds=0.5)
    found = power.power(power.differences(model, competitions, 1, draws=20_000))
    assert 0.5 < exact < 0.95 and found == pytest.approx(100 * exact, abs=1.2)


@pytest.mark.parametrize("seeds", [1, 3])
def test_equal_setups_are_rarely_told_apart(seeds: int) -> None:
    model = Model(low=0.3, high=0.3, setups=0.4, seeds=0.7, alike_setups=0.7, alike_seeds=0.8)
    for competitions in (10, 22, 75):
        assert power.power(power.differences(model, competitions, seeds, draws=4000)) < 5 + 1


def world(rng, setups: int, competitions: int, effect: float) -> np.ndarray:
    """Success rates by another model than the one that is fitted: easy and hard competitions, and skill that suits."""
    hard = np.where(rng.random(competitions) < 0.4, -4.0, 1.0) + rng.normal(0, 1, competitions)
    return 1 / (1 + np.exp(-(hard + effect + rng.standard_t(4, (setups, competitions)))))


def test_power_is_that_of_reports_on_other_runs() -> None:
    """The forecast from 8 setups on 75 competitions, and 400 reports of new runs on new ones, by the report's test."""
    rng = np.random.default_rng(1)
    rates = world(rng, 8, 75, 0.0)
    wins, runs = rng.binomial(3, rates), np.full(rates.shape, 3)
    effects = np.linspace(-2, 2, 41)
    means = [world(np.random.default_rng(2), 1, 50_000, effect).mean() for effect in effects]
    model = power.fit(wins, runs, 15)
    skills = np.interp((model.high, model.low), means, effects)[:, None]
    for competitions, seeds in ((75, 1), (30, 3)):
        forecast = power.power(power.differences(model, competitions, seeds))
        found = 0
        for _ in range(400):
            counts = rng.binomial(seeds, world(rng, 2, competitions, skills))
            a, b = ({str(n): (int(won), seeds) for n, won in enumerate(row)} for row in counts)
            found += paired_difference(a, b).p < 0.05
        assert 30 < forecast < 95 and found / 4 == pytest.approx(forecast, abs=8)


def test_missing_runs_do_not_bias_the_model() -> None:
    rng = np.random.default_rng(3)
    rates = world(rng, 6, 400, 0.0)
    runs = rng.choice(4, rates.shape, p=(0.1, 0.2, 0.2, 0.5))
    part, whole = power.fit(rng.binomial(runs, rates), runs, 10), power.fit(rng.binomial(50, rates), runs * 0 + 50, 10)
    assert part.setups == pytest.approx(whole.setups, abs=0.05)
    assert part.seeds == pytest.approx(whole.seeds, abs=0.05)


def test_a_planted_subset_is_found() -> None:
    """Setups differ on five competitions, and hardly on the others."""
    rng = np.random.default_rng(4)
    shares = 0.5 + rng.normal(0, 0.02, (12, 40))
    planted = [3, 11, 17, 29, 38]
    shares[:, planted] = np.linspace(0.1, 0.9, 12)[:, None] + rng.normal(0, 0.25, (12, 5))
    shares[:, 30] = 1.0
    found = choose(shares, [f"c{n:02}" for n in range(40)], KEYS)
    assert found is not None and found.chosen == found.found[0]
    assert found.chosen.ids == tuple(f"c{n:02}" for n in planted)
    assert found.chosen.checked and found.chosen.checked.correlation > 0.95 > found.chosen.random + 0.1


def test_noise_promises_no_correlation() -> None:
    """Of pure noise a part goes with the whole by √(part / whole), as it belongs to it; the fit promises much more."""
    rng = np.random.default_rng(5)
    found = [choose(rng.random((12, 75)), [str(n) for n in range(75)], KEYS) for _ in range(8)]
    assert statistics.fmean(each.found[0].fitted for each in found if each) > 0.6
    checked = [each.found[0].checked for each in found if each]
    correlations = [of.correlation for of in checked if of]
    for mean in (statistics.fmean(correlations), statistics.fmean(each.found[0].random for each in found if each)):
        assert mean == pytest.approx(math.sqrt(5 / 75), abs=0.2)
    assert all(each and (not each.chosen or len(each.chosen.ids) > 30) for each in found)


def test_the_correlation_left_out_is_pearsons() -> None:
    """With the same subset in every fold, the sums over pairs are the correlations over setups."""
    rng = np.random.default_rng(6)
    shares = rng.normal(0.5, 1e-6, (7, 6))
    shares[:, :5] = np.linspace(0.1, 0.9, 7)[:, None] + rng.normal(0, 0.1, (7, 5))
    found = choose(shares, list("abcdef"), KEYS[:7])
    assert found is not None and found.found[0].ids == tuple("abcde")
    checked = found.found[0].checked
    rate, whole = shares[:, :5].mean(axis=1), shares.mean(axis=1)
    pairs = itertools.combinations(range(7), 2)
    tau = statistics.fmean(math.copysign(1, (rate[s] - rate[t]) * (whole[s] - whole[t])) for s, t in pairs)
    assert checked is not None and checked.tau == pytest.approx(tau)
    assert checked.correlation == pytest.approx(statistics.correlation(list(rate), list(whole)))
    assert checked.apart == pytest.approx(100 * float(np.abs(rate - whole).mean()))


def test_few_setups_get_a_warning_or_no_subset() -> None:
    shares = np.random.default_rng(7).random((4, 30))
    assert choose(shares[:2], [str(n) for n in range(30)], KEYS[:2]) is None
    four = choose(shares, [str(n) for n in range(30)], KEYS[:4])
    assert four is not None and not four.chosen and all(row.checked is None for row in four.found)


@pytest.mark.slow
def test_the_command(two_groups, tmp_path) -> None:
    words = ("good", "bad", "--runs", str(two_groups), "--power", "20", "--output")
    shown = report(*words, str(tmp_path / "r.json"))
    assert shown.exit_code == 0 and "by 20 points" in shown.output and "Fewer than three setups" in shown.output
    assert "Only 2 setups" in shown.output
    found = json.loads((tmp_path / "r.json").read_text())
    cells = {(cell["competitions"], cell["seeds"]): cell["power"] for cell in found["power"]["cells"]}
    assert cells[75, 1] > cells[22, 1] and cells[22, 3] > cells[22, 1] and found["subsets"] is None
    assert found["power"]["model"]["high"] - found["power"]["model"]["low"] == pytest.approx(0.2)
    again = report(*words, str(tmp_path / "r.html")).output
    assert again.partition("Chance")[2] == shown.output.partition("Chance")[2], "the same runs give the same figures"
    assert "Chance to tell two setups apart" in (tmp_path / "r.html").read_text()


@pytest.mark.slow
def test_a_plan_can_paste_the_subset(tmp_path) -> None:
    import tomllib

    ids = drawn_groups.split_ids("low")
    for number in range(6):
        drawn_groups.write_group(tmp_path, f"g{number}", agent=f"a{number}", skill=number / 5, competitions=ids)
    words = [f"g{number}" for number in range(6)] + ["--runs", str(tmp_path), "--power", "25"]
    shown = report(*words, "--output", str(tmp_path / "r.json"))
    assert "Only 6 setups" in shown.output
    found = json.loads((tmp_path / "r.json").read_text())["subsets"]
    assert found["chosen"] and set(found["chosen"]["ids"]) < set(ids)
    line = next(line for line in shown.output.splitlines() if line.startswith("competitions = "))
    assert tomllib.loads(line)["competitions"] == found["chosen"]["ids"]


def test_refusals(two_groups) -> None:
    runs = ("--runs", str(two_groups))
    for words in (
        ("good", *runs, "--power"),
        ("good", "bad", *runs, "--power", "--competition", "AI4Code"),
        (*runs, "--power", "good", "bad"),
        ("good", "bad", *runs, "--power", "0"),
        ("good", "bad", *runs, "--power", "nan"),
    ):
        shown = report(*words)
        assert shown.exit_code == 2 and "--power" in shown.output and "Traceback" not in shown.output, shown.output
