"""Headless Chromium over its own protocol, on two pipes: nothing to install but the browser."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlecore.util.child_environment import NPM, PROXIES, child_environment

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Navigated(Exception):
    """The page was left while it was asked."""


class Browser:
    """One page. ``problems`` are what its console and its log said at the level of a warning or above.

    So are requests for addresses that begin with none of ``allowed``.
    """

    def __init__(self, allowed: tuple[str, ...] = ("file:", "data:")) -> None:
        assert PROGRAM is not None
        self.problems: list[str] = []
        self._allowed = allowed
        self._profile = tempfile.mkdtemp(prefix="mlecore-browser-")
        read_in, self._out = os.pipe()
        self._in, write_out = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
        # The browser reads commands from descriptor 3 and writes answers to 4.
        pipes = ["bash", "-c", f'exec "$@" 3<&{read_in} 4>&{write_out}', "bash"]
        self._process = subprocess.Popen(
            [*pipes, PROGRAM, *options, f"--user-data-dir={self._profile}", "about:blank"],
            pass_fds=(read_in, write_out),
            env=child_environment(),
            stderr=subprocess.DEVNULL,
        )
        os.close(read_in)
        os.close(write_out)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self._loaded: set[str] = set()  # documents, by the id of their load
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "navigated" in answer.get("error", {}).get("message", ""):
                    raise Navigated
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            chunk = os.read(self._in, 1 << 20)
            assert chunk, "the browser has ended"
            self._buffer += chunk
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method", ""), message.get("params", {})
        if method == "Page.lifecycleEvent" and params["name"] == "load":
            self._loaded.add(params["loaderId"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"])[:500])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(self._allowed):
            self.problems.append(f"it asked for {params['request']['url']}")

    def open(
        self, page: Path | str, *, dark: bool = False, paper: bool = False, width: int = 1100, height: int = 900
    ) -> None:
        """A file or an address, until it has loaded. ``paper``: with the styles for printing."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.prefer(dark=dark, paper=paper)
        navigated = self.call("Page.navigate", url=page.as_uri() if isinstance(page, Path) else page)
        assert "errorText" not in navigated, navigated
        while navigated.get("loaderId", "") not in self._loaded | {""}:  # the load of the page before may end now, too
            self._read()

    def prefer(self, *, dark: bool = False, paper: bool = False) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if paper else "screen", features=[scheme])

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def flaws(self, axe: str, context: str = "document", rules: str = "") -> list[str]:
        """Rules of axe-core (its source is ``axe``) that the page breaks; ``rules``: more of its options."""
        if not self.ask("'axe' in window"):
            self.ask(f"{axe}; 0")
        options = f"{{resultTypes: ['violations'], selectors: false, preload: false, {rules}}}"
        run = f"axe.run({context}, {options}).then((found) => JSON.stringify(found.violations.map((each) => each.id)))"
        answer = self.call("Runtime.evaluate", expression=run, awaitPromise=True, returnByValue=True)
        found: list[str] = json.loads(answer["result"]["value"])
        return found

    def until(self, expression: str, seconds: float = 240.0) -> None:
        """Wait until it is true in the page."""
        ends = time.monotonic() + seconds
        while True:
            with contextlib.suppress(Navigated):
                if self.ask(expression):
                    return
            assert time.monotonic() < ends, expression
            time.sleep(0.1)

    def press(self, key: str) -> None:
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, width: int, height: int, scale: float = 1) -> bytes:
        """A PNG of the page's top, which may be larger than the window."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"])


@pytest.fixture(scope="session")
def _chromium() -> Iterator[Browser]:
    opened = Browser(allowed=("http://127.0.0.1:", "file:", "data:"))
    yield opened
    opened.close()


@pytest.fixture
def browser(_chromium: Browser) -> Iterator[Browser]:
    """Chromium, started once: an empty page, and no problems so far. Tests with it need the marker `browser`."""
    _chromium.problems.clear()
    yield _chromium
    _chromium.open("about:blank")  # closes the event streams of the page


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from the npm registry. Tests with it need the marker `network`."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("axe")
    words = ["npm", "pack", "--silent", "axe-core@4.11.0"]
    env = child_environment(*NPM, *PROXIES)
    packed = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    if packed.returncode:
        pytest.skip(f"npm cannot fetch axe-core: {packed.stderr.strip()[-200:]}")
    with tarfile.open(folder / packed.stdout.split()[-1]) as archive:
        source = archive.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()
