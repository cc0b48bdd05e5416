"""Tables that extensions leave in a group's folder: written, read, shown as text and as a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from mle_ext_report.appendix import Appendix, Dot, read_appendices
from mle_ext_report.formats import markdown
from mle_ext_report.headline import warnings
from mle_ext_report.html import page
from mle_ext_report.summary import summarise

MADE = Appendix(
    name="tide",
    title="High & low water",
    header=("PLACE", "METRES"),
    rows=(("<b>Ems</b>", "1.5"), ("Elbe", "2.0")),
    notes=("By gauge.",),
    x="metres",
    y="score",
    dots=(Dot(x=1.5, y=0.25, name="<b>Ems</b>"), Dot(x=2.0, y=0.5, name="Elbe")),
)


@pytest.fixture
def group(tmp_path: Path) -> Path:
    (tmp_path / "runs" / "g").mkdir(parents=True)
    (tmp_path / "runs" / "g" / "group.json").write_text("{}")
    return tmp_path / "runs" / "g"


def test_what_was_written_is_read(group: Path) -> None:
    MADE.write(group)
    evolve(MADE, name="other").write(group)
    MADE.write(group)  # again: it replaces the first
    assert [each.name for each in read_appendices(["g"], group.parent)[0]] == ["other", "tide"]
    assert read_appendices([str(group), "absent"], Path("nowhere"))[0][1] == MADE


@pytest.mark.parametrize(
    "change", [{"name": "../x"}, {"rows": [["a"]]}, {"dots": [{"x": "NaN"}]}, {"more": 1}, {"title": 5}]
)
def test_one_that_is_damaged_is_named_and_stops_nothing(group: Path, change: dict[str, object], graded) -> None:
    path = MADE.write(group)
    evolve(MADE, name="other", title="Whole").write(group)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    found, problems = read_appendices(["g"], group.parent)
    assert [each.name for each in found] == ["other"]
    (problem,) = problems
    assert problem.startswith("appendix-tide.json of g is left out, as it cannot be read: ")
    document = evolve(summarise([graded()]), appendices=found, notices=problems)
    assert "appendix-tide.json of g is left out" in " ".join(warnings(document))
    assert "Whole</h2>" in page(document) and "appendix-tide.json of g is left out" in page(document)


def test_a_report_shows_the_table_and_the_chart(graded) -> None:
    document = evolve(summarise([graded()]), appendices=(MADE,))
    text = markdown(document)
    assert "High & low water" in text and "By gauge." in text and "| Elbe " in text
    shown = page(document)
    assert 'id="appendix-0"' in shown and 'href="#appendix-0"' in shown and "score against metres" in shown
    assert "<b>Ems</b>" not in shown and "&lt;b&gt;Ems" in shown and "High &amp; low water" in shown
    assert document.to_json()["appendices"][0]["rows"][1] == ("Elbe", "2.0")
