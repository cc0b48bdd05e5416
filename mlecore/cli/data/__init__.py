"""`mlecore data`: prepared data."""

from __future__ import annotations

import click

from mlecore.cli._group import Group


@click.group("data", cls=Group, package=__name__, own=("list", "verify"))
def command() -> None:
    """List and verify prepared data."""
