"""Names from data as paths that stay inside their folder."""

from __future__ import annotations

import re

from mlecore.errors import DataError
from mlecore_toolkit.name_lengths import require_holdable

# absolute, a drive, a part "..", a NUL, or nothing at all; a backslash counts as a slash, as it does on Windows
_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:|(.*[/\\])?\.\.([/\\]|$)|.*\x00|$", re.DOTALL)


def safe_name(name: str) -> str:
    """``name`` itself, a relative path with ``/``; DataError if it could lead out of its folder."""
    if _OUTSIDE.match(name):
        raise DataError(f"{name!r} would be outside the folder that it belongs to")
    return name


def file_name(name: str, where: str = "") -> str:
    """``safe_name`` of a file that is to lie on this disk; DataError also if that cannot hold it."""
    require_holdable(safe_name(name), where)
    return name
