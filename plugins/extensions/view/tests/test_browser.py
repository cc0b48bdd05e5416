"""In Chromium: no console error, nothing blocked, nothing executed; pages that update themselves; a folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import groups_on_disk
import pytest
from attrs import evolve
from mlecore_testing.browser import PROGRAM, Browser

from mlecore.runs.store import read_record

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]
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
    f"compare.html?a=finished/{RUN}&b=finished/alpha--optical-digits--1",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = Browser(allowed=("http://127.0.0.1:", "file:", "data:"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def address(runs: Path) -> Iterator[str]:
    program = [sys.executable, "-m", "mlecore", "view", "--runs", str(runs)]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().split(" at ")[1].strip()
    process.terminate()
    assert process.wait(60) is not None


def test_every_page_is_quiet(browser: Browser, address: str) -> None:
    for page in PAGES:
        for dark in (False, True):
            browser.problems.clear()
            browser.open(address + page, dark=dark)
            assert browser.ask("document.querySelector('h1') !== null"), page
            assert browser.ask("[...document.images].map((image) => image.parentElement.outerHTML)") == [], page
            assert browser.problems == [], page
        style = browser.ask("getComputedStyle(document.body).backgroundColor")
        assert style == "rgb(20, 24, 28)", page  # the style sheet was not blocked


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from the npm registry."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(["npm", "pack", "--silent", "axe-core@4.11.0"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"npm cannot fetch axe-core: {done.stderr.strip()[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        source = archive.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()


@pytest.mark.network
def test_a_screen_reader_finds_its_way(browser: Browser, address: str, axe: str) -> None:
    """Colours take axe most of its time, and are the same in every row and line: it looks at the first ones."""

    def flaws(rules: str = "") -> list[str]:
        context = "{exclude: ['.code > :nth-child(n+9)', 'tbody tr:nth-child(n+5)']}"
        options = f"{{resultTypes: ['violations'], selectors: false, preload: false, {rules}}}"
        run = f"axe.run({context}, {options}).then((found) => JSON.stringify(found.violations.map((each) => each.id)))"
        answer = browser.call("Runtime.evaluate", expression=run, awaitPromise=True, returnByValue=True)
        return json.loads(answer["result"]["value"])

    for page in (*(page for page in PAGES if "hostile" not in page), f"g/hostile/{RUN}/index.html"):
        browser.open(address + page)
        browser.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; }); 0")
        browser.ask(axe + "; 0")
        assert flaws() == [], page
        browser.prefer(dark=True)
        assert flaws("runOnly: ['color-contrast']") == [], page
    browser.ask("document.querySelector('main').style.color = '#333'; 0")
    assert flaws("runOnly: ['color-contrast']") == ["color-contrast"]  # it does look
    browser.ask("document.documentElement.removeAttribute('lang'); 0")
    assert "html-has-lang" in flaws()


def test_a_page_shows_changes_by_itself(browser: Browser, address: str, runs: Path) -> None:
    browser.open(f"{address}g/working/index.html")
    browser.until("document.getElementById('live').textContent.startsWith('Live: changes')")
    assert "1 waiting" in browser.ask("document.querySelector('[data-part=facts]').textContent")
    record = read_record(runs / "working" / RUN)
    groups_on_disk.write(evolve(record, state="cancelled", reason="somebody had enough"))
    browser.until("document.querySelector('[data-part=facts]').textContent.includes('1 cancelled')")
    assert "somebody had enough" in browser.ask("document.querySelector('[data-part=runs]').textContent")
    groups_on_disk.write(record)
    assert browser.problems == []


def test_keys_lead_to_the_search(browser: Browser, address: str) -> None:
    browser.open(f"{address}g/finished/{RUN}/log.html")
    browser.ask("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true})); 0")
    assert browser.ask("document.activeElement.name") == "q"


def test_the_folder_opens_from_disk(browser: Browser, runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    program = [sys.executable, "-m", "mlecore", "view", "--runs", str(runs), "--static", str(folder)]
    subprocess.run(program, check=True, capture_output=True)
    for page in ("index.html", "g/finished/index.html", f"g/hostile/{RUN}/log.html", f"g/hostile/{RUN}/calls.html"):
        browser.problems.clear()
        browser.open(folder / page, dark=True)
        assert browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)", page
        assert browser.problems == [], page
    browser.ask("document.querySelector('nav.path a').click(); 0")
    browser.until("document.querySelector('h1').textContent === 'Runs'")
