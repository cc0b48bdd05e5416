"""What pages are made with: the catalogue, templates, and addresses, which are the same on a server and in a folder.

Every address is relative, so that it holds below any token and in any folder, and every state of a page is in its
address, so that it can be sent to a colleague.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from markupsafe import Markup
from mle_lib_pages import environment, inline, linked

from mlecore.printable import printable
from mlecore.reports.cells import one_line
from mlecore.units import show_duration, show_size

from .catalogue import Catalogue
from .code import colours

HERE = Path(__file__).parent


class Links:
    """Addresses as seen from one page. ``static``: in a folder, where a query leads nowhere."""

    def __init__(self, depth: int, static: bool) -> None:
        self.base = "../" * depth
        self.static = static

    def groups(self) -> str:
        return f"{self.base}index.html"

    def group(self, group: str, **query: object) -> str:
        return self._to(f"g/{_part(group)}/index.html", query)

    def run(self, group: str, run: str, page: str = "index", **query: object) -> str:
        """``page``: index, log, code, calls, record."""
        return self._to(f"g/{_part(group)}/{_part(run)}/{page}.html", query)

    def file(self, group: str, run: str, path: str, line: int | None = None) -> str:
        anchor = "" if line is None else f"#L-{line}"
        if self.static:
            return self.run(group, run, file_page(path)) + anchor
        return self.run(group, run, "file", path=path) + anchor

    def compare(self, *runs: str) -> str:
        """Two runs, each as GROUP/RUN."""
        if self.static:
            return f"{self.base}{compare_page(*runs)}"
        return self._to("compare.html", dict(zip("ab", runs, strict=False)))

    def _to(self, path: str, query: Mapping[str, object]) -> str:
        given = {name: value for name, value in query.items() if value not in (None, "", 0)}
        return self.base + path + (f"?{urlencode(given, errors='surrogateescape')}" if given else "")


def _part(name: str) -> str:
    return quote(os.fsencode(name), safe="")


def file_page(path: str) -> str:
    """The page of a file in a static folder: a path may be longer than a name may be."""
    return f"file-{hashlib.sha256(os.fsencode(path)).hexdigest()[:20]}"


def compare_page(*runs: str) -> str:
    return f"compare-{hashlib.sha256(chr(0).join(runs).encode()).hexdigest()[:20]}.html"


class Site:
    """All pages of a runs folder."""

    def __init__(self, runs: Path, *, static: bool = False) -> None:
        self.catalogue = Catalogue(runs)
        self.runs = runs
        self.static = static
        self._templates = environment(HERE / "templates")
        self._templates.filters |= {
            "plain": one_line,
            "printable": lambda text: printable(str(text), lines=True),
            "duration": lambda seconds: "" if seconds is None else show_duration(seconds),
            "size": lambda count: "" if count is None else show_size(count),
            "short": lambda text, most: text if len(text) <= most else f"{text[:most]} ...",
        }
        self._css = (HERE / "static" / "view.css").read_text(encoding="utf-8") + colours()
        self._js = (HERE / "static" / "view.js").read_text(encoding="utf-8")

    def render(self, template: str, depth: int, *, title: str, live: str = "", **values: Any) -> str:
        """A page ``depth`` folders below the first one. ``live``: what its event stream tells about."""
        links = Links(depth, self.static)
        head = inline(css=self._css, js=self._js) if self.static else linked(links.base, connect=True)
        return self._templates.get_template(template).render(
            head=head, title=one_line(title), links=links, static=self.static, live=live, **values
        )

    @property
    def css(self) -> str:
        return self._css

    @property
    def js(self) -> str:
        return self._js


def html(text: str) -> Markup:
    """What was escaped where it was made."""
    return Markup(text)
