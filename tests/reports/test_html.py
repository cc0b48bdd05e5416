"""The page: whole, small, safe; and in a browser: quiet, sortable, reachable by keyboard, light, dark and on paper."""

from __future__ import annotations

import importlib.util
import io
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from mle_lib_report_page import page, plots, write_page
from PIL import Image

from mlecore.cli import main
from mlecore.errors import MlecoreError
from mlecore.reports.graded import ReportedFinding
from mlecore.reports.sources import read_sources
from mlecore.reports.summary import summarise


@pytest.fixture(scope="module")
def document(two_groups):
    return summarise(read_sources(["good", "bad"], [], two_groups), against_published=True)


@pytest.fixture(scope="module")
def path(document, tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page") / "report.html"
    write_page(document, found)
    return found


class Reader(HTMLParser):
    """Ids, links to them, and addresses that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: set[str] = set()
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and (value or "").startswith("#"):
                self.links.add((value or "")[1:])
            elif name in ("src", "href", "xlink:href") and not (value or "").startswith(("#", "data:")):
                self.fetched.append(value or "")


def test_it_is_whole(path: Path) -> None:
    text = path.read_text()
    reader = Reader()
    reader.feed(text)
    assert reader.fetched == []
    assert len(reader.ids) == len(set(reader.ids))
    assert reader.links <= set(reader.ids)
    assert len([id for id in reader.ids if id.startswith("run-")]) == 450
    assert not re.search(r"#010[123]0\d", text), "a plot's colour was left that the page does not know"


def test_a_setup_has_its_own_colour(document) -> None:
    drawn = plots.draw(document)
    for name in ("headline", "positions-low", "progress", "comparison-0", "published"):
        assert "var(--series-0)" in drawn[name] and "var(--series-1)" in drawn[name], name
    assert "var(--failed)" in drawn["results"] and "series" not in drawn["results"]


def test_it_is_small(path: Path) -> None:
    assert path.stat().st_size < 1.0e6  # of two groups of 225 runs; the limit for one is 2 MB


def test_the_same_report_gives_the_same_page(document) -> None:
    assert page(document) == page(document)


def test_what_it_shows_is_what_text_shows(document, path: Path) -> None:
    text = path.read_text()
    for setup in document.setups:
        for row in setup.rates:
            assert f"<td>{row.rates.rates['any_medal']}</td>" in text


def test_hostile_words_stay_words(graded, report) -> None:
    attack = '</script><script>alert(1)</script><img src="http://x.invalid/" onerror="alert(2)">'
    bad = report(status="invalid", valid_submission=False, reason=attack)
    flag = (ReportedFinding(detector=attack, rule=attack, verdict="violation", summary=attack),)
    text = page(summarise([graded(attack, made=bad, name=attack, group=attack, label=attack, suspicions=flag)]))
    assert text.count("<script>") == 1 and "<img" not in text
    reader = Reader()
    reader.feed(text)
    assert reader.fetched == []


def test_a_report_of_one_run(graded, without_thresholds) -> None:
    text = page(summarise([graded(data_kind="synthetic", made=without_thresholds(0.6))]))
    assert "beats the sample" in text and "Beats sample %" in text and "Any medal %" not in text


def test_a_file_that_cannot_be_written(document, tmp_path: Path) -> None:
    with pytest.raises(MlecoreError, match="could not be written to"):
        write_page(document, tmp_path / "nowhere" / "report.html")


def _browser():
    spec = importlib.util.spec_from_file_location("mlecore_test_browser", Path(__file__).with_name("browser.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_module = _browser()
in_browser = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(_module.PROGRAM is None, reason="Chromium is not installed (apt-get install chromium)"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    opened = _module.Browser()
    yield opened
    opened.close()


def brightness(png: bytes) -> float:
    image = Image.open(io.BytesIO(png)).convert("L")
    return sum(i * n for i, n in enumerate(image.histogram())) / (image.width * image.height)


def test_without_its_package(two_groups, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mle_lib_report_page", None)
    called = ["report", "good", "--runs", str(two_groups), "--html", str(tmp_path / "page.html")]
    result = CliRunner().invoke(main, called)
    assert result.exit_code == 2 and "pip install 'mlecore[html]'" in result.output


class TestInBrowser:
    pytestmark = in_browser

    def test_quiet_and_wide_enough(self, browser, path: Path) -> None:
        for width in (390, 1100):
            browser.open(path, width=width)
            assert browser.ask("document.documentElement.scrollWidth <= innerWidth"), f"too wide for {width} pixels"
        assert browser.ask("document.querySelectorAll('svg.plot').length") >= 7
        rates = "[...document.querySelectorAll('section[aria-labelledby=rates] .scroll')]"
        assert browser.ask(f"{rates}.every(e => e.scrollWidth <= e.clientWidth)"), "the main figures need scrolling"
        assert browser.problems == []

    def test_tables_are_sorted_by_keyboard(self, browser, path: Path) -> None:
        browser.open(path)
        column = (
            "[...document.querySelector('section[aria-labelledby=runs] tbody').rows].map(r => r.cells[2].textContent)"
        )
        browser.ask("document.querySelectorAll('section[aria-labelledby=runs] th button')[2].focus()")
        for order in ("ascending", "descending"):
            browser.press("Enter")
            assert browser.ask("document.activeElement.closest('th').ariaSort") == order
            scores = [float(text) for text in browser.ask(column) if text != "-"]
            assert len(scores) > 100 and scores == sorted(scores, reverse=order == "descending")
            assert browser.ask(column)[-1] == "-"
        assert browser.problems == []

    def test_everything_is_reached_by_keyboard(self, browser, path: Path) -> None:
        browser.open(path)
        browser.press("Tab")
        assert browser.ask("document.activeElement.className") == "skip"
        browser.press("Tab")
        assert browser.ask("document.activeElement.hash") == "#rates"
        reach = "[...document.querySelectorAll('a, button, .scroll')].every(e => e.tabIndex === 0)"
        assert browser.ask(reach)
        browser.ask("document.querySelector('svg.plot a').focus()")
        browser.press("Enter")
        assert browser.ask("location.hash").startswith("#run-")
        assert browser.ask("document.querySelector('tr:target') !== null")
        assert browser.problems == []

    def test_light_dark_and_paper(self, browser, path: Path) -> None:
        browser.open(path)
        light = brightness(browser.screenshot())
        browser.open(path, dark=True)
        dark = brightness(browser.screenshot())
        assert light > 200 and dark < 80
        browser.open(path, dark=True, paper=True, width=720)
        assert brightness(browser.screenshot()) > 200
        assert browser.ask("document.documentElement.scrollWidth <= innerWidth"), "too wide for paper"
        cut = "[...document.querySelectorAll('.scroll')].some(e => getComputedStyle(e).overflow !== 'visible')"
        assert not browser.ask(cut), "paper does not scroll"
        assert browser.pdf().startswith(b"%PDF")
        assert browser.problems == []
