"""What pages are made with: the catalogue, templates, and addresses, which are the same on a server and in a folder.

Every address is relative, so that it holds below any token and in any folder, and every state of a page is in its
address, so that it can be sent to a colleague.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from mle_ext_report.cells import one_line
from mle_ext_report.pages import environment, inline, linked

from mlecore.model.record import RunRecord
from mlecore.util.printable import printable
from mlecore.util.units import counted, show_duration, show_size

from .catalogue import Catalogue
from .code import colours
from .live import LiveCalls
from .places import Missing

HERE = Path(__file__).parent


class Links:
    """Addresses as seen from one page. ``static``: in a folder, where a query leads nowhere."""

    def __init__(self, depth: int, static: bool) -> None:
        self.base = "../" * depth
        self.static = static

    def groups(self) -> str:
        return f"{self.base}index.html"

    def group(self, group: str, /, **query: object) -> str:
        return self._to(f"g/{_part(group)}/index.html", query)

    def run(self, group: str, run: str, page: str = "index", /, **query: object) -> str:
        """``page``: index, log, code, calls, record."""
        return self._to(f"g/{_part(group)}/{_part(run)}/{page}.html", query)

    def file(self, group: str, run: str, path: str, line: int | None = None) -> str:
        anchor = "" if line is None else f"#L-{line}"
        if self.static:
            return self.run(group, run, file_name(path)) + anchor
        return self.run(group, run, "file", path=path) + anchor

    def calls(self, group: str, run: str, page: int) -> str:
        """A page of a conversation, from 1."""
        if self.static and page > 1:
            return self.run(group, run, f"calls-{page}")
        return self.run(group, run, "calls", page=page if page > 1 else None)

    def compare(self, *runs: str) -> str:
        """Two runs, each as GROUP/RUN."""
        if self.static:
            return f"{self.base}{compare_name(*runs)}"
        return self._to("compare.html", dict(zip("ab", runs, strict=False)))

    def events(self, group: str = "", run: str = "") -> str:
        """The stream that tells when a group or a run has changed; of no use in a folder."""
        return self._to("events", {"group": group, "run": run})

    def _to(self, path: str, query: Mapping[str, object]) -> str:
        given = {name: value for name, value in query.items() if value not in (None, "", 0)}
        return self.base + path + (f"?{urlencode(given, errors='surrogateescape')}" if given else "")


def _part(name: str) -> str:
    return quote(os.fsencode(name), safe="")


def file_name(path: str) -> str:
    """The page of a file in a static folder: a path may be longer than a name may be."""
    return f"file-{hashlib.sha256(os.fsencode(path)).hexdigest()[:20]}"


def compare_name(*runs: str) -> str:
    """The page of two runs in a static folder."""
    return f"compare-{hashlib.sha256(chr(0).join(sorted(runs)).encode()).hexdigest()[:20]}.html"


class Site:
    """All pages of a runs folder."""

    def __init__(self, runs: Path, *, static: bool = False, where: str = "") -> None:
        self.catalogue = Catalogue(runs)
        self.runs = runs
        self.static = static
        self.where = where  # such as " --runs DIR", for commands that pages name
        self.live = LiveCalls()
        self._templates = environment(HERE / "templates")
        self._templates.filters |= {
            "plain": one_line,
            "how": lambda ended: {"oom": "out of memory"}.get(ended, ended.replace("_", " ")),
            "printable": lambda text: printable(str(text), lines=True),
            "counted": counted,
            "duration": lambda seconds: "" if seconds is None else show_duration(seconds),
            "size": lambda count: "" if count is None else show_size(count),
            "short": lambda text, most: text if len(text) <= most else f"{text[:most]} ...",
        }
        self.css = (HERE / "static" / "view.css").read_text(encoding="utf-8") + colours()
        self.js = (HERE / "static" / "view.js").read_text(encoding="utf-8")

    def logs_of(self, record: RunRecord) -> Path:
        """The folder with the run's gateway log and transcripts in logs/; of an active run, a copy of both."""
        return record.folder if self.static else self.live.folder(record)

    def or_missing(self, depth: int, make: Callable[[], str]) -> tuple[str, bool]:
        """A page, or one that says why there is none; and whether there is one."""
        try:
            return make(), True
        except Missing as error:
            return self.render("missing.html", depth, title="Not found", why=str(error)), False

    def render(self, template: str, depth: int, *, title: str, live: str = "", **values: Any) -> str:
        """A page ``depth`` folders below the first one. ``live``: the address of its event stream, if it has one."""
        links = Links(depth, self.static)
        head = inline(css=self.css, js=self.js) if self.static else linked(links.base, connect=True)
        return self._templates.get_template(template).render(
            head=head, title=one_line(title), links=links, static=self.static, where=self.where, live=live, **values
        )
