"""The page: whole, small, safe; and in a browser: quiet, and sortable by keyboard."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from mle_ext_report.graded import ReportedFinding
from mle_ext_report.html import page
from mle_ext_report.sources import read_sources
from mle_ext_report.summary import summarise

from mlecore_testing.looks import Look


@pytest.fixture(scope="module")
def document(two_groups):
    return summarise(read_sources(["good", "bad"], [], two_groups), against_published=True)


@pytest.fixture(scope="module")
def path(document, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page") / "report.html"
    found.write_text(page(document), encoding="utf-8")
    return found


class Reader(HTMLParser):
    """Ids, links to them, and addresses that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: set[str] = set()
        self.fetched: list[str] = []
        self.inline: list[str] = []  # attributes that the policy forbids

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "style" or name.startswith("on"):
                self.inline.append(name)
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and (value or "").startswith("#"):
                self.links.add((value or "")[1:])
            elif name in ("src", "href", "xlink:href") and not (value or "").startswith(("#", "data:")):
                self.fetched.append(value or "")


def test_it_is_whole(path: Path) -> None:
    reader = Reader()
    reader.feed(path.read_text())
    assert reader.fetched == [] and reader.inline == []
    assert len(reader.ids) == len(set(reader.ids))
    assert reader.links <= set(reader.ids)
    assert len([id for id in reader.ids if id.startswith("run-")]) == 450
    assert len([link for link in reader.links if link.startswith("run-")]) == 450


def test_the_policy_allows_its_own_style_and_script_only(path: Path) -> None:
    text = path.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None and text.index(policy[0]) < text.index("<style>")
    said = policy[1].replace("&#39;", "'")
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in said
    assert said.startswith("default-src 'none';") and "unsafe" not in said


def test_twenty_setups_are_one_triangle(graded) -> None:
    ids = [f"c{number}" for number in range(6)]
    items = [
        graded(id, model=f"m{n}", medal="gold" if n > 3 * at else None) for n in range(20) for at, id in enumerate(ids)
    ]
    document = summarise(items)
    text = page(document)
    assert len(document.comparisons) == 190 and text.count("<h3>") < 12
    (triangle,) = re.findall(r'<table class="triangle">(.*?)</table>', text, re.S)
    cells = re.findall(r'title="(\w) - (\w): ([-+][\d.]+) points', triangle)
    assert len(cells) == 190 and len({frozenset(cell[:2]) for cell in cells}) == 190
    by_pair = {(found.a, found.b): found.differences[0].difference for found in document.comparisons}
    for a, b, difference in cells:
        expected = by_pair[a, b] if (a, b) in by_pair else -by_pair[b, a]
        assert float(difference) == pytest.approx(expected, abs=0.05)


def test_hostile_words_stay_words(graded, report) -> None:
    attack = '</script><script>alert(1)</script><img src="http://x.invalid/" onerror="alert(2)">'
    bad = report(status="invalid", valid_submission=False, reason=attack)
    flag = (ReportedFinding(detector=attack, rule=attack, verdict="violation", summary=attack),)
    text = page(summarise([graded(attack, made=bad, name=attack, group=attack, label=attack, suspicions=flag)]))
    assert text.count("<script>") == 1 and "<img" not in text
    reader = Reader()
    reader.feed(text)
    assert reader.fetched == [] and reader.inline == []


def test_flagged_runs_have_a_frame(graded) -> None:
    flag = (ReportedFinding(detector="d", rule="copied", verdict="violation", summary="it copied"),)
    text = page(summarise([graded(medal="gold", suspicions=flag), graded(seed=1)]))
    assert re.findall(r'<a class="q (\w+) flagged"', text) == ["gold"] and "flagged by a detector" in text
    assert "flagged by a detector" not in page(summarise([graded()]))


@pytest.mark.browser
@pytest.mark.slow
class TestInBrowser:
    def test_quiet_and_wide_enough(self, browser, path: Path) -> None:
        for width in (400, 1200):
            browser.open(path, width=width)
            assert browser.ask("document.documentElement.scrollWidth <= innerWidth"), f"too wide for {width} pixels"
        assert (
            browser.ask("document.querySelectorAll('svg.strip').length") == 77
        )  # a competition each, their mean percentile, and the scale
        assert browser.ask("document.querySelectorAll('svg.chart').length") == 2
        table = "document.querySelector('table.setups').parentElement"
        assert browser.ask(f"{table}.scrollWidth <= {table}.clientWidth"), "the main figures need scrolling"
        assert browser.problems == []

    def test_tables_are_sorted_by_keyboard(self, browser, path: Path) -> None:
        browser.open(path)
        table = "document.getElementById('run-A-0').closest('table')"
        browser.ask(f"{table}.closest('details').open = true")
        browser.ask(f"{table}.querySelectorAll('th button')[3].focus()")
        column = f"[...{table}.tBodies[0].rows].map(r => r.cells[3].textContent)"
        for order in ("ascending", "descending"):
            browser.press("Enter")
            assert browser.ask("document.activeElement.closest('th').ariaSort") == order
            scores = [float(text) for text in browser.ask(column) if text != "-"]
            assert len(scores) > 100 and scores == sorted(scores, reverse=order == "descending")
            assert browser.ask(column)[-1] == "-"
        assert browser.problems == []

    @pytest.mark.network
    def test_as_readers_see_it(self, look: Look, path: Path) -> None:
        assert path.stat().st_size < 1_000_000
        look("report", path)
