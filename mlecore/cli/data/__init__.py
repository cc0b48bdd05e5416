"""`mlecore data`: prepared data."""

from __future__ import annotations

import click

from mlecore.cli import Commands


@click.group("data", cls=Commands, own=("list", "verify"), of="data")
def command() -> None:
    """List and verify prepared data."""
