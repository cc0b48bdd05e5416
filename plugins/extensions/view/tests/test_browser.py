"""In Chromium: no console error, nothing blocked, nothing executed; pages that update themselves; a folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import groups_on_disk
import pytest
from attrs import evolve

from mlecore.runs.store import read_record
from mlecore_testing.browser import Browser
from mlecore_testing.looks import Look

pytestmark = [pytest.mark.browser, pytest.mark.slow]
RUN = "alpha--optical-digits--0"
PAGES = (
    "index.html",
    "g/finished/index.html",
    *(
        f"g/{group}/{RUN}/{page}.html"
        for group in ("finished", "hostile")
        for page in ("index", "log", "code", "calls", "record")
    ),
    *(f"g/{group}/{RUN}/file.html?path=code/train.py" for group in ("finished", "hostile")),
    "g/failing/index.html",
    "g/failing/crash--optical-digits--0/index.html",
    f"compare.html?a=finished/{RUN}&b=finished/alpha--optical-digits--1",
)


@pytest.fixture(scope="module")
def address(runs: Path) -> Iterator[str]:
    program = [sys.executable, "-m", "mlecore.cli", "view", "--runs", str(runs)]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().split(" at ")[1].strip()
    process.terminate()
    assert process.wait(60) is not None


def test_every_page_is_quiet(browser: Browser, address: str) -> None:
    for page in PAGES:
        browser.open(address + page)
        assert browser.ask("document.querySelector('h1') !== null"), page
        assert browser.ask("[...document.images].map((image) => image.parentElement.outerHTML)") == [], page
        browser.prefer(dark=True)
        assert browser.problems == [], page
        style = browser.ask("getComputedStyle(document.body).backgroundColor")
        assert style == "rgb(16, 21, 27)", page  # the style sheet was not blocked


@pytest.mark.network
@pytest.mark.parametrize("page", [*(page for page in PAGES if "hostile" not in page), f"g/hostile/{RUN}/index.html"])
def test_a_page_as_readers_see_it(look: Look, address: str, page: str) -> None:
    look(f"view-{page.partition('.html')[0].replace('/', '-')}", address + page)


def test_a_page_shows_changes_by_itself(browser: Browser, address: str, runs: Path) -> None:
    browser.open(f"{address}g/working/index.html")
    browser.until(
        "document.getElementById('live').textContent.endsWith('Live') && document.getElementById('live').title"
    )
    assert "7 waiting" in browser.ask("document.querySelector('[data-part=facts]').textContent")
    record = read_record(runs / "working" / RUN)
    groups_on_disk.write(evolve(record, state="cancelled", reason="somebody had enough"))
    browser.until("document.querySelector('[data-part=facts]').textContent.includes('1 cancelled')")
    assert "somebody had enough" in browser.ask("document.querySelector('[data-part=runs]').textContent")
    groups_on_disk.write(record)
    assert browser.problems == []


def test_nothing_is_wider_than_a_phone(browser: Browser, address: str) -> None:
    for page in (*PAGES, "g/working/index.html"):
        browser.open(address + page, width=400)
        assert browser.ask("document.documentElement.scrollWidth") <= 400, page


def test_filters_act_at_once_and_stay_in_the_address(browser: Browser, address: str) -> None:
    browser.open(f"{address}index.html")
    assert browser.ask("document.querySelector('form button').checkVisibility()") is False
    browser.ask(
        "{ const field = document.querySelector('[name=text]'); field.value = 'hostile'; "
        "field.dispatchEvent(new Event('input', {bubbles: true})); } 0"
    )
    browser.until("document.querySelectorAll('.groups tbody tr').length === 1")
    assert browser.ask("location.search") == "?text=hostile"
    browser.open(f"{address}g/finished/index.html")
    browser.ask(
        "{ const field = document.querySelector('[name=agent]'); field.value = 'beta'; "
        "field.dispatchEvent(new Event('input', {bubbles: true})); } 0"
    )
    browser.until("document.querySelector('[data-part=runs]').textContent.includes('4 runs')")
    assert browser.problems == []


def test_the_folder_opens_from_disk(browser: Browser, runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    program = [sys.executable, "-m", "mlecore.cli", "view", "--runs", str(runs), "--static", str(folder)]
    subprocess.run(program, check=True, capture_output=True)
    for page in ("index.html", "g/finished/index.html", f"g/hostile/{RUN}/log.html", f"g/hostile/{RUN}/calls.html"):
        browser.problems.clear()
        browser.open(folder / page, dark=True)
        assert browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(16, 21, 27)", page
        assert browser.problems == [], page
    browser.ask("document.querySelector('nav.path a').click(); 0")
    browser.until("document.querySelector('h1').textContent === 'Runs'")
