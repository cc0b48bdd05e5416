"""The project's mark: a podium of gold, silver and bronze. Every page, the documentation included, shows this one."""

from __future__ import annotations

from urllib.parse import quote

from markupsafe import Markup

_BARS = (("#bcc5cf", 2, 11, 11), ("#f0c030", 9, 7, 15), ("#d8935f", 16, 14, 8))  # colour, x, y, height
_SHAPES = "".join(f'<rect x="{x}" y="{y}" width="6" height="{h}" rx="1.2" fill="{c}"/>' for c, x, y, h in _BARS)
_DRAWN = f'viewBox="0 0 24 24">{_SHAPES}<circle cx="12" cy="3.4" r="2.4" fill="#4f86f7"/></svg>'

SVG = f'<svg xmlns="http://www.w3.org/2000/svg" {_DRAWN}'
"""The mark as a file."""
MARK = Markup(f'<svg aria-hidden="true" {_DRAWN}')
"""The mark in a page, beside the name."""
ICON = f"data:image/svg+xml,{quote(SVG)}"
"""The mark as a page's icon."""
