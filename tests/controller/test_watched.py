"""A group that somebody watches in a browser while its controller is killed and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from mlecore_testing.browser import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FACTS = "document.querySelector('[data-part=facts]').textContent"
CONTROLLED = f"{FACTS}.includes('A controller is running')"


@pytest.fixture
def address(shell) -> Iterator[str]:
    """Where `mlecore view` serves the runs."""
    shell.runs.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "mlecore.cli", "view", "--runs", str(shell.runs)]
    process = subprocess.Popen(command, env=shell.env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().split(" at ")[1].strip()
    process.terminate()
    process.communicate(timeout=300)


def test_the_page_follows_a_group_past_the_death_of_its_controller(shell, browser: Browser, address: str) -> None:
    controller = shell.begin(*shell.run_arguments("g", 2, seconds="3600"), "--max-parallel", "1")
    shell.wait_for(shell.runs / "g" / "worker--coins--0" / "run.json")
    browser.open(f"{address}g/g/index.html")
    browser.ask("window.opened = 'once'; 0")
    browser.until(f"{FACTS}.includes('1 running') && {CONTROLLED}")
    os.killpg(controller.pid, signal.SIGKILL)
    controller.communicate()
    browser.until(f"{FACTS}.includes('No controller is running')")
    resumed = shell.begin("runs", "resume", "g")
    browser.until(CONTROLLED)
    (shell.backend_root / "over").touch()
    browser.until(f"!{FACTS}.includes('controller is running')")
    output, _ = resumed.communicate(timeout=300)
    assert resumed.returncode == 0, output
    scores = "[...document.querySelectorAll('[data-part=runs] tbody td.num[data-value]')].map(e => e.textContent)"
    assert {"0.30000", "0.70000"} <= set(browser.ask(scores))
    assert browser.ask("window.opened") == "once", "the page was loaded again"
    assert browser.ask("document.getElementById('live').textContent").endswith("Live")
    assert browser.problems == []
