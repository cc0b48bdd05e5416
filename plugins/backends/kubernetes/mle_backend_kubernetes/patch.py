"""Changes to a manifest by its user, for what has no option: merged much as `kubectl patch` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(base: Any, change: Any) -> Any:
    """``base`` with ``change``: tables are merged, null removes, lists of named things are merged by name.

    Any other list replaces the one that was there.
    """
    if isinstance(base, Mapping) and isinstance(change, Mapping):
        out = dict(base)
        for key, value in change.items():
            if value is None:
                out.pop(key, None)
            else:
                out[key] = merged(out[key], value) if key in out else value
        return out
    if _named(base) and _named(change):
        changes = {each["name"]: each for each in change}
        kept = [merged(each, changes.pop(each["name"], {})) for each in base]
        return [*kept, *changes.values()]
    return change


def _named(items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(each, Mapping) and "name" in each for each in items)
