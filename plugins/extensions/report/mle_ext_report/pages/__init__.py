"""Pages of mlecore: templates, tables and charts that the report, the viewer and the leaderboard share.

A page works without a network and without scripts: charts are SVG in the page. Scripts only sort tables and copy them.
This module has the frame of a page: its templates, and its head with style, script and content security policy.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import jinja2
from attrs import frozen
from markupsafe import Markup, escape

from mle_ext_report import export
from mle_ext_report.pages import brand, charts, marks, rates, strips
from mlecore.util.printable import printable

_HERE = Path(__file__).parent
ASSETS = _HERE / "assets"
"""The folder with pages.css and pages.js, for servers."""


@frozen(kw_only=True)
class Head:
    """``top`` goes to the start of <head>, ``bottom`` to the end of <body>."""

    top: Markup
    bottom: Markup


def environment(*folders: Path) -> jinja2.Environment:
    """Templates from these folders, then from this package.

    Text is escaped, control characters and those that turn its direction are spelled out; an unknown variable is an
    error.
    """
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, _HERE / "templates"]),
        autoescape=True,
        finalize=lambda value: printable(value, lines=True) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals |= {
        "as_csv": export.as_csv,
        "as_latex": export.as_latex,
        "as_markdown": export.markdown_table,
        "icon": brand.ICON,
        "line_chart": charts.line_chart,
        "mark": brand.MARK,
        "rate_bar": rates.rate_bar,
        "rate_ticks": rates.rate_ticks,
        "scatter_chart": charts.scatter_chart,
        "score_strip": strips.score_strip,
        "series": marks.series,
        "signs": marks.SIGNS,
        "strip_scale": strips.strip_scale,
    }
    return found


def inline(css: str = "", js: str = "") -> Head:
    """For a page that is one file. The policy allows its one style and its one script by their hashes, nothing else.

    ``css`` and ``js`` are added to the shared ones. Attributes such as ``style`` and ``onclick`` have no effect.
    """
    style, script = (
        (ASSETS / name).read_text(encoding="utf-8") + more for name, more in (("pages.css", css), ("pages.js", js))
    )
    if "</" in style + script:
        raise ValueError("a style or script in a page must not contain '</'")
    policy = _policy(style=_hash(style), script=_hash(script))
    return Head(
        top=_meta(policy) + Markup(f"<style>{style}</style>"),
        bottom=Markup(f"<script>{script}</script>"),
    )


def linked(base: str, connect: bool = False) -> Head:
    """For pages of a server that serves ASSETS below ``base``; ``connect`` allows requests and forms to it."""
    link = Markup('<link rel="stylesheet" href="{0}pages.css"><script defer src="{0}pages.js"></script>')
    return Head(
        top=_meta(_policy(style="'self'", script="'self'", requests="'self'" if connect else "'none'"))
        + link.format(base),
        bottom=Markup(""),
    )


def _policy(style: str, script: str, requests: str = "'none'") -> str:
    sources = f"default-src 'none'; style-src {style}; script-src {script}; img-src data:"
    return f"{sources}; connect-src {requests}; base-uri 'none'; form-action {requests}"


def _meta(policy: str) -> Markup:
    return Markup('<meta http-equiv="Content-Security-Policy" content="{}">').format(escape(policy))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
