"""The built site as readers see it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mlecore_testing.http_server import serving
from mlecore_testing.looks import Look

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.network]
BUILT = Path(__file__).parents[2] / "build" / "docs"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the newest version, which `make docs` has built."""
    versions = sorted(BUILT.glob("*/index.html"), key=lambda path: path.stat().st_mtime)
    if not versions:
        pytest.skip("the site is not built (make docs)")
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=BUILT))) as server:
        yield f"http://127.0.0.1:{server.server_port}/{versions[-1].parent.name}"


@pytest.mark.parametrize("page", ["index", "runs", "competitions/index", "competitions/leaf-classification"])
def test_a_page(page: str, look: Look, site: str) -> None:
    look(f"docs-{page.replace('/', '-')}", f"{site}/{page}.html", bar='.md-header img[src$="mark.svg"]')
