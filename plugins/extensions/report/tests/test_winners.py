"""The first screen: who won, as a chart; and the same on a narrow terminal."""

from __future__ import annotations

from html import unescape

import click
import pytest
from mle_ext_report.formats import text
from mle_ext_report.html import page
from mle_ext_report.html.winners import winners
from mle_ext_report.sections.methods import alike, unlike
from mle_ext_report.sections.results import results
from mle_ext_report.summary import summarise

from mlecore.model.provenance import PluginUse
from mlecore.model.record import Limits

IDS = [f"c{number}" for number in range(8)]


def agent(graded, label: str, medals: int, **changes):
    return [
        graded(id, label=label, group=label, medal=("gold", "silver")[n % 2] if n < medals else None, **changes)
        for n, id in enumerate(IDS)
    ]


def chart(items):
    document = summarise(items)
    return winners(document.setups, {setup.key: n for n, setup in enumerate(document.setups)})


def test_the_best_is_first_in_the_colour_of_its_letter(graded) -> None:
    (found,) = chart([*agent(graded, "bad", 1), *agent(graded, "good", 6)])
    assert [(row.letter, row.name, row.rate.number, row.value) for row in found.rows] == [
        ("B", "good", 1, "75.0 %"),
        ("A", "bad", 0, "12.5 %"),
    ]
    assert dict(found.rows[0].rate.medals) == {"gold": 37.5, "silver": 37.5, "bronze": 0.0}
    assert found.rows[0].rate.low < 75 < found.rows[0].rate.high <= found.top


def test_rates_that_do_not_compare_have_charts_of_their_own(graded, without_thresholds) -> None:
    plain = [graded(id, label="x", data_kind="synthetic", made=without_thresholds(0.6)) for id in IDS]
    (medals, sample) = chart([*plain, *agent(graded, "y", 2)])
    assert [row.name for row in medals.rows] == ["y"] and [row.name for row in sample.rows] == ["x"]
    assert medals.medals and not sample.medals


def test_without_a_rate_runs_are_counted(graded) -> None:
    lost = graded("c9", label="x", group="x", state="failed", made=None)
    (found,) = chart([*agent(graded, "x", 2), lost])
    assert [(row.value, row.rate.mean, row.reach) for row in found.rows] == [("2 of 8 runs", 25.0, "")]
    assert chart([lost]) == []


def test_of_twenty_setups_eight_are_shown_at_first(graded) -> None:
    shown = page(summarise([item for n in range(20) for item in agent(graded, f"s{n}", n % 9)]))
    first, folded = shown[: shown.index('class="result"')].split("<details>")
    assert (first.count('<svg class="rate '), folded.count('<svg class="rate ')) == (8, 12)


def test_conditions_that_are_the_same_are_one_line(graded) -> None:
    plugins = tuple(PluginUse(name=f"p{n}", version="1", source=f"{n}" * 64) for n in range(22))
    sides = [agent(graded, "x", 2, plugins=plugins), agent(graded, "y", 2, plugins=plugins, limits=Limits(gpus=2))]
    setups = summarise([item for side in sides for item in side]).setups
    assert [row[0] for row in unlike(setups).rows] == ["GPUs"] and len(alike(setups)) > 22
    shown = unescape(page(summarise(sides[0])))
    line = shown[shown.index("<h3>Conditions</h3>") : shown.index("conditions that are the same")]
    assert "Time limit" in line and "plugin p1" not in line


@pytest.mark.parametrize("width", [80, 100])
def test_agents_with_long_options_fit_the_terminal(graded, width: int) -> None:
    names = ("aide", "openhands", "codex")
    items = [
        graded(id, label=name, agent=PluginUse(name=name, version="1.0", options={"prompt": "please " * 30}))
        for name in names
        for id in ("jigsaw-toxic-comment-classification-challenge", *IDS)
    ]
    shown = text(summarise(items), width)
    assert max(len(line) for line in click.unstyle(shown).splitlines()) <= width


def test_what_runs_earned_and_which_have_no_result(graded) -> None:
    runs = [graded(seed=n, medal=medal) for n, medal in enumerate(("silver", "gold", "gold", None))]
    lost = graded(seed=4, state="failed", made=None)
    (row,) = results(summarise([*runs, lost]).setups).rows
    assert row[-1] == "0.80000 2 gold, silver, 1 failed"
