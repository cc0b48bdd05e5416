"""What this project publishes, whether it is installed or not. Only such packages are suggested for installation: a
name made up from what a user typed may belong to a stranger."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def published(kind: str) -> dict[str, str]:
    """Name -> package of all plugins of one kind, or of all commands ("command"). `make generate` writes the file."""
    rows = (files("mlecore.plugins") / "published.txt").read_text(encoding="utf-8").split("\n")
    return {name: package for each, name, package in map(str.split, filter(None, rows)) if each == kind}
