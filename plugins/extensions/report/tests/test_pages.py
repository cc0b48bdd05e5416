"""Templates, charts and scales: escaped, placed right, and copied as other programs read it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from mle_ext_report.export import as_latex
from mle_ext_report.pages import environment, inline
from mle_ext_report.pages.charts import Line, Point, line_chart, scatter_chart
from mle_ext_report.pages.marks import SIGNS, Square, series
from mle_ext_report.pages.rates import Rate, rate_bar
from mle_ext_report.pages.scale import Scale
from mle_ext_report.pages.strips import Axis, Dot, place, score_strip, strip_scale

ATTACK = '"><script>alert(1)</script>'


def xml(svg: str) -> ElementTree.Element:
    """It must be well-formed, with no element or attribute that a policy would have to stop."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        assert element.tag in ("svg", "g", "path", "circle", "rect", "text", "title"), element.tag
        assert not {name for name in element.attrib if name == "style" or name.startswith("on")}
    return root


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.4, -0.5), (0.5, 0.0), (0.6, 0.5), (0.7, 1.0), (0.8, 2.0), (0.825, 2.5), (0.9, 4.0), (0.95, 4.5), (1.1, 5.5)],
)
def test_a_score_lies_between_its_thresholds(score: float, expected: float) -> None:
    axis = Axis(sample=0.5, median=0.7, bronze=0.8, silver=0.85, gold=0.9, best=1.0)
    assert place(axis, score) == pytest.approx(expected)
    lower = Axis(sample=-0.5, median=-0.7, bronze=-0.8, silver=-0.85, gold=-0.9, best=-1.0, lower_is_better=True)
    assert place(lower, -score) == pytest.approx(expected)


def test_thresholds_that_are_missing_equal_or_out_of_order() -> None:
    assert place(Axis(sample=0.5, median=0.7, bronze=0.8, silver=0.8, gold=0.9), 0.8) == 3.0  # the better of the two
    assert place(Axis(sample=0.5, median=0.7, bronze=0.8, silver=0.85, gold=0.9), 0.95) == 4.5  # the best is unknown
    good_sample = Axis(sample=0.75, median=0.7, bronze=0.8, silver=0.85, gold=0.9)
    assert place(good_sample, 0.6) == 0.5 and place(good_sample, 0.75) == pytest.approx(1.5)
    assert place(Axis(sample=1.0, best=0.5, lower_is_better=True), 0.75) == pytest.approx(2.5)
    assert place(Axis(sample=None), 1.0) == place(Axis(sample=0.5, median=0.7), float("nan")) == -0.5


def test_a_medal_lies_in_its_band() -> None:
    axis = Axis(sample=0.5, median=0.7, bronze=0.8, silver=0.85, gold=0.9)
    scores = {"above": 0.75, "bronze": 0.82, "silver": 0.86, "gold": 0.93}
    root = xml(score_strip(axis, [Dot(score=score, words=name) for name, score in scores.items()]))
    bands = {each.get("class"): each for each in root.iter("rect")}
    for circle in root.iter("circle"):
        name = circle[0].text
        left, width = (float(bands[name].get(key, "")) for key in ("x", "width"))
        assert left < float(circle.get("cx", "")) < left + width, name


def test_a_scale_has_round_ticks_that_hold_all_values() -> None:
    fitted = Scale(label="x").fitted([0.13, 0.88])
    assert (fitted.low, fitted.high, list(fitted.ticks)) == (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert Scale(label="x", low=0, high=100).fitted([3]).at(25) == 0.25
    log = Scale(label="x", log=True).fitted([0.0, 2, 50, float("inf")])
    assert list(log.ticks) == [2, 5, 10, 20, 50] and not log.shows(0.0)
    assert log.at(10) - log.at(5) == pytest.approx(log.at(4) - log.at(2))
    assert Scale(label="x").fitted([7.0]).at(7.0) == pytest.approx(0.5, abs=0.5)
    assert Scale(label="x").fitted([]).at(0.0) >= 0


def test_charts_escape_and_leave_out_what_has_no_place() -> None:
    x, y = Scale(label=ATTACK, log=True), Scale(label="rate", low=0, marks={"gold": 3})
    lines = [
        Line(name=ATTACK, points=[(0, 1), (1, 1), (2, float("nan")), (4, 2)], number=0),
        Line(name="held", points=[(1, 1), (4, 2)], step=True),
    ]
    root = xml(line_chart(lines, x, y))
    paths = [each.get("d", "") for each in root.iter("path") if each.get("class") == "line"]
    assert paths[0].count("L") == 1 and re.search(r"H[\d.]+V[\d.]+$", paths[1])
    assert any(each.text == "gold" for each in root.iter("text"))
    dots = [Point(x=2, y=50, low=40, high=60, words=ATTACK, name=ATTACK, number=9), Point(x=0, y=1, words="no place")]
    root = xml(scatter_chart(dots, x, y))
    assert len(list(root.iter("circle"))) == 1 and root.find(".//g").get("class") == series(9) == "series-other"
    for svg in (
        strip_scale(True),
        strip_scale(False),
        rate_bar(Rate(mean=50, words=ATTACK, low=40, high=200)),
        line_chart([], x, y),
    ):
        xml(svg)


def test_of_many_lines_those_with_a_colour_are_named_and_none_below_the_axis() -> None:
    lines = [Line(name=f"line {n}", points=[(0, 0.0), (1, 0.0)], number=n) for n in range(20)]
    texts = list(xml(line_chart(lines, Scale(label="x"), Scale(label="y", low=0, high=1))).iter("text"))
    named = {text.text: float(text.attrib["y"]) for text in texts if (text.text or "").startswith("line ")}
    axis = max(float(text.attrib["y"]) for text in texts if text.text == "0" and text.attrib["text-anchor"] == "end")
    assert list(named) == [f"line {n}" for n in range(8)] and max(named.values()) <= axis


def test_a_table_as_text() -> None:
    header, rows = ("Setup", "Any medal %"), [("a_1 & {b}", "3.0 ± 1.0"), ('x,"y"', "=1+1")]
    latex = as_latex(header, rows)
    assert r"a\_1 \& \{b\} & 3.0 $\pm$ 1.0 \\" in latex and r"Setup & Any medal \% \\" in latex
    assert latex.startswith(r"\begin{tabular}{lr}") and r"\toprule" in latex


def test_macros_escape(tmp_path: Path) -> None:
    (tmp_path / "mine.html").write_text(
        '{% extends "base.html" %}{% from "parts.html" import banner, copy_as, facts, key, legend, squares, table %}'
        "{% block main %}{{ banner(bad) }}{{ facts([(bad, bad)]) }}{{ key(bad, 0) }}{{ squares(runs) }}"
        "{{ legend(kinds) }}{{ table(bad, (bad,), ((bad,),), (bad,)) }}"
        "{{ copy_as(bad, (bad,), ((bad,),)) }}{% endblock %}"
    )
    runs = [Square(kind=kind, words=ATTACK, link=ATTACK if kind == "gold" else None) for kind in SIGNS]
    templates = environment(tmp_path)
    text = templates.get_template("mine.html").render(head=inline(), title=ATTACK, bad=ATTACK, runs=runs, kinds=SIGNS)
    assert text.count("<script>") == 1 and "alert(1)" in text
