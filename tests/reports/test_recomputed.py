"""Every figure of reports and pages, against the same computed from the runs' files by other code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from mle_lib_pages.report import page
from mlecore_testing import drawn_groups
from recomputed import differences, page_differences, read_group, report

from mlecore.reports.sources import read_sources
from mlecore.reports.summary import summarise
from mlecore.runs.digests import with_digest
from mlecore.runs.store import read_record, write_record

SOME = (
    "leaf-classification",
    "mlsp-2013-birds",
    "spooky-author-identification",
    "AI4Code",
    "champs-scalar-coupling",
    "stanford-covid-vaccine",
)


def made(runs: Path, *names: str, against_published: bool = False) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """The report of groups as JSON and as a page, and what both must say."""
    document = summarise(read_sources(names, [], runs), against_published=against_published)
    expected = report([read_group(runs / name) for name in names], against_published=against_published)
    return json.loads(json.dumps(document.to_json())), page(document), expected


@pytest.fixture(scope="module", params=[True, False], ids=["medals", "no medals"])
def some(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Two groups of 12 runs, a few of them flagged."""
    runs = tmp_path_factory.mktemp("some")
    for name, agent, skill in (("one", "baseline", 0.7), ("two", "dummy", 0.2)):
        folder = drawn_groups.write_group(
            runs, name, agent=agent, skill=skill, competitions=SOME, seeds=2, medals=request.param
        )
        for number, path in enumerate(sorted(folder.glob("*/run.json"))[::2]):
            verdict = ("clean", "suspicious", "violation", "undecided", "note")[number % 5]
            write_findings(path.parent, verdict, 0.25 * number if verdict == "violation" else None)
    return made(runs, "one", "two")


def write_findings(run: Path, verdict: str, confidence: float | None) -> None:
    where = {"file": "code/train.py", "of": "", "line": 7, "last_line": None, "offset": None, "quote": "x"}
    finding = {"rule": "copied", "verdict": verdict, "summary": "it copied", "confidence": confidence}
    values = {
        "run": json.loads((run / "run.json").read_text())["uid"],
        "detector": {"name": "dolos", "version": "", "distribution": "", "source": "", "options": {}},
        "created_at": "2026-01-01T00:00:00+00:00",
        "seconds": 1.0,
        "failed": "",
        "findings": [{**finding, "evidence": [where], "details": {}}],
        "usage": {"input_tokens": 5, "output_tokens": 2, "cost_usd": 0.5, "calls": 1, "measured": False},
        "group": "g",
    }
    (run / "findings").mkdir()
    (run / "findings" / "dolos.json").write_bytes(with_digest(values))
    write_record(evolve(read_record(run), digests=None))


def test_a_small_report(some) -> None:
    found, html, expected = some
    assert found["setups"][0]["flagged"] == 2
    assert list(differences(expected, found)) == []
    assert list(page_differences(expected, html)) == []


@pytest.mark.slow
def test_the_whole_benchmark(two_groups) -> None:
    found, html, expected = made(two_groups, "good", "bad", against_published=True)
    assert len(expected["setups"][0]["runs"].rows) == 225
    assert list(differences(expected, found)) == []
    assert list(page_differences(expected, html)) == []


def figures(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each number in it: what holds it, and under which name."""
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, (dict, list)):
            yield from figures(item)
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            yield value, name


def test_no_figure_goes_unseen(some) -> None:
    """Were any figure of the report another one, it would be found."""
    found, _, expected = some
    places = list(figures(found))
    assert len(places) > 500
    for holder, name in places:
        right = holder[name]
        holder[name] = right + 1000
        assert next(differences(expected, found), None), f"{name} was {right}"
        holder[name] = right


def test_no_cell_goes_unseen(some) -> None:
    """The same for the tables of the page."""
    _, html, expected = some
    words = html.index('aria-label="Conditions"'), html.index('<dl class="methods">')
    numbers = re.finditer(r'<(?:td[^>]*|span class="mean")>[-+]?(?=\d)', html)
    cells = [match.end() for match in numbers if not words[0] < match.end() < words[1]]
    assert len(cells) > 200
    for at in cells[::20]:
        assert next(page_differences(expected, html[:at] + "9" + html[at:]), None), html[at - 40 : at + 20]


def test_no_dot_goes_unseen(some) -> None:
    _, html, expected = some
    dots = [
        match.end()
        for match in re.finditer(r'<circle class="series-[^"]*" cx="(?=[\d.]*" cy="\d+" r="3"><title>)', html)
    ]
    assert len(dots) >= 10
    for at in dots:
        assert next(page_differences(expected, html[:at] + "1" + html[at:]), None)
