"""What the site shares with reports, the viewer and leaderboards: mark, colours, sizes, and tables that sort."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

from mle_ext_report.pages.brand import SVG

SCHEMES = (  # of pages.css, in this order: light, dark, printed
    "[data-md-color-scheme] {{ {} }}",
    "[data-md-color-scheme=slate] {{ {} }}",
    "@media print {{ [data-md-color-scheme] {{ {} }} }}",
)


def assets() -> Iterator[tuple[str, str]]:
    """Names and texts of the files that the site takes from the pages' design."""
    folder = files("mle_ext_report.pages") / "assets"
    css = (folder / "pages.css").read_text(encoding="utf-8")
    blocks = [re.findall(r"--[\w-]+:[^;]+;", block) for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL)]
    rules = [rule.format(" ".join(block)) for rule, block in zip(SCHEMES, blocks, strict=True)]
    yield "mark.svg", SVG
    script = (folder / "pages.js").read_text(encoding="utf-8")
    yield "pages.js", f"{{\n{script}}}\n"  # in a scope of its own: the theme has variables of the same names
    yield "shared.css", re.sub(r"([\d.]+)rem", _scaled, "\n".join(rules)) + "\n"


def _scaled(length: re.Match[str]) -> str:
    """In the theme, 1 rem is 20 pixels instead of 16."""
    return f"{float(length[1]) * 0.8:g}rem"
