"""Finishes the built documentation site, and checks it: `finish.py FOLDER VERSION`.

The folder has a version in each subfolder. Written for them: `versions.json`, which the theme's selector reads, and an
`index.html` that leads to the newest. Every link within the new version must lead somewhere, to its anchor too, no page
may load anything from another host, and no text may show markup that Markdown did not understand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = dict.fromkeys(("img", "script", "iframe", "source", "video", "audio"), "src") | {"use": "href"}
BLOCKS = {"p", "li", "td", "th", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6"}
LITERAL = {"code", "pre", "script", "style", "title"}
RAW = {
    "a list": re.compile(r"(?:^|\n)\s*(?:[-*+]|\d{1,2}[.)]) \S|[.:;!?)] - \S"),
    "a table": re.compile(r"(?:^|\n)\s*\|.*\|\s*(?:\n|$)|\|\s*:?-{3,}"),
    "a fence": re.compile(r"```"),
    "emphasis": re.compile(r"\*\*"),
    "a link": re.compile(r"\]\([\w./#-]+\)"),
}
NOT_LOADING = {"canonical", "next", "prev", "alternate"}  # kinds of <link>


class Page(HTMLParser):
    """What a page links to, what it loads, its anchors, and the texts of its blocks with code left out."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = [""]
        self._literal: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in LITERAL:
            self._literal.append(tag)
            self.texts[-1] += "…"
        elif tag in BLOCKS:
            self.texts.append("")
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") not in NOT_LOADING:
            self.loads.append(given.get("href", ""))
        if LOADING.get(tag) in given:
            self.loads.append(given[LOADING[tag]])
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        if self._literal and tag == self._literal[-1]:
            self._literal.pop()
        elif tag in BLOCKS:
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if not self._literal:
            self.texts[-1] += data


def main() -> int:
    """Write both files, print what is wrong, and end with 1 if there is anything."""
    folder, version = Path(sys.argv[1]), sys.argv[2]
    (folder / version / "404.html").unlink(missing_ok=True)  # it would look for its style at the root of a server
    versions = sorted((path.name for path in folder.iterdir() if (path / "index.html").is_file()), key=_order)[::-1]
    listed = [{"version": name, "title": name, "aliases": ["latest"] * (name == versions[0])} for name in versions]
    (folder / "versions.json").write_text(json.dumps(listed) + "\n", encoding="utf-8")
    page = (
        f'<!doctype html><title>mlecore</title><meta http-equiv="refresh" content="0; url={versions[0]}/index.html">\n'
    )
    (folder / "index.html").write_text(page, encoding="utf-8")
    problems = list(wrong(folder / version))
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{folder / version / 'index.html'}: {len(list((folder / version).rglob('*.html')))} pages")
    return int(bool(problems))


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def wrong(site: Path) -> Iterator[str]:
    """Broken links, outside addresses and raw markup, one line each."""
    root = site.resolve()
    for path in sorted(root.rglob("*.html")):
        where = path.relative_to(root)
        page = _read(path)
        for address in page.loads:
            if urlsplit(address).netloc:
                yield f"{where}: loads {address} from another host"
            elif address and not address.startswith("data:") and not _target(path, address).is_file():
                yield f"{where}: loads {address}, which does not exist"
        for text in page.texts:
            for kind, pattern in RAW.items():
                if found := pattern.search(text):
                    shown = " ".join(text[max(0, found.start() - 40) : found.end() + 40].split())
                    yield f"{where}: Markdown did not understand {kind}: {shown}"
        for address in page.links:
            url = urlsplit(address)
            if url.scheme or url.netloc:
                continue
            target = _target(path, address)
            if not target.is_file() or not target.is_relative_to(root):
                yield f"{where}: the link {address} leads nowhere"
            elif url.fragment and target.suffix == ".html" and unquote(url.fragment) not in _read(target).anchors:
                yield f"{where}: the link {address} has no such anchor"
    for path in sorted(root.rglob("*.css")):
        for address in re.findall(r"url\([\"']?(https?://[^)\"']*)", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}: loads {address} from another host"


@cache
def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _target(page: Path, address: str) -> Path:
    path = unquote(urlsplit(address).path)
    return (page.parent / path).resolve() if path else page


if __name__ == "__main__":
    sys.exit(main())
