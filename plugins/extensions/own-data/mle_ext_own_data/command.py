"""`mlecore new competition`: from an example, or from data."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.errors import UsageError
from mlecore_testing.scaffold.command import named, write_and_tell


@click.command()
@named
@click.option("--images", is_flag=True, help="Start from an example with pictures.")
@click.option("--groups", is_flag=True, help="Start from one whose rows belong to groups, such as patients.")
def command(name: str, into: Path, images: bool, groups: bool) -> None:
    """Create a new competition.

    NAME is the competition's name for users, e.g. `my-problem`. The package,
    here mle-comp-my-problem, is written to a folder of the same name.
    """
    from mle_ext_own_data.examples import example

    if images and groups:
        raise UsageError("--images and --groups cannot be used together", fix="Name one of them.")
    write_and_tell(example(name, "images" if images else "groups" if groups else "tabular"), into)
