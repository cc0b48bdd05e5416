"""In Chromium: no console error, nothing blocked, nothing executed; pages that update themselves; a folder."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import groups_on_disk
import pytest
from attrs import evolve

from mlecore.runs.store import read_record

_SPEC = importlib.util.spec_from_file_location(
    "mlecore_test_browser", Path(__file__).parents[4] / "tests" / "reports" / "browser.py"
)
assert _SPEC is not None and _SPEC.loader is not None
browsers = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(browsers)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(browsers.PROGRAM is None, reason="Chromium is not installed"),
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
    f"g/hostile/{RUN}/file.html?path=code/train.py",
    f"compare.html?a=finished/{RUN}&b=finished/alpha--optical-digits--1",
)


class Browser(browsers.Browser):  # type: ignore[name-defined, misc]
    """One that may ask the viewer."""

    def _note(self, message: dict[str, Any]) -> None:
        if message.get("method") == "Network.requestWillBeSent":
            self._events.append(message["method"])
            url = message["params"]["request"]["url"]
            if not url.startswith(("http://127.0.0.1:", "file:", "data:")):
                self.problems.append(f"it asked for {url}")
            return
        super()._note(message)

    def visit(self, url: str, **how: Any) -> None:
        class Page:
            as_uri = staticmethod(lambda: url)

        self.open(Page(), **how)

    def until(self, expression: str, seconds: float = 60.0) -> None:
        ends = time.monotonic() + seconds
        while not self.ask(expression):
            assert time.monotonic() < ends, expression
            time.sleep(0.1)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = Browser()
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
            browser.visit(address + page, dark=dark)
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
    def flaws() -> list[str]:
        run = "axe.run().then((found) => JSON.stringify(found.violations.map((each) => each.id)))"
        answer = browser.call("Runtime.evaluate", expression=run, awaitPromise=True, returnByValue=True)
        return json.loads(answer["result"]["value"])

    for page in PAGES:
        for dark in (False, True):
            browser.visit(address + page, dark=dark)
            browser.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; }); 0")
            browser.ask(axe + "; 0")
            assert flaws() == [], page
    browser.ask("document.documentElement.removeAttribute('lang'); 0")
    assert flaws() == ["html-has-lang"]  # it does look


def test_a_page_shows_changes_by_itself(browser: Browser, address: str, runs: Path) -> None:
    browser.visit(f"{address}g/working/index.html")
    browser.until("document.getElementById('live').textContent.startsWith('Live: changes')")
    assert "1 waiting" in browser.ask("document.querySelector('[data-part=facts]').textContent")
    record = read_record(runs / "working" / RUN)
    groups_on_disk.write(evolve(record, state="cancelled", reason="somebody had enough"))
    browser.until("document.querySelector('[data-part=facts]').textContent.includes('1 cancelled')")
    assert "somebody had enough" in browser.ask("document.querySelector('[data-part=runs]').textContent")
    groups_on_disk.write(record)
    assert browser.problems == []


def test_keys_lead_to_the_search(browser: Browser, address: str) -> None:
    browser.visit(f"{address}g/finished/{RUN}/log.html")
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
