"""The command `mlecore view`: groups of runs in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.shared import in_folder, runs_option


@click.command("view")
@runs_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1.  [default: a free one]")
@click.option(
    "--static",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the pages into a new folder instead of serving them.",
)
def command(runs: Path, port: int, static: Path | None) -> None:
    """Look at groups of runs in a browser, even while they are running.

    Prints the address to open. Its token keeps other users of this machine and other sites out: send it only to people
    who may see everything in the runs folder. Nothing is changed in that folder.
    """
    from mlecore.errors import UsageError

    if not runs.is_dir():
        raise UsageError(f"there is no folder {runs}", fix="Name the folder of the groups: --runs DIR")
    if static is not None:
        from mle_ext_view.static_site import write_site

        pages = write_site(runs.absolute(), static)
        click.echo(f"{pages} pages written; open {static / 'index.html'}")
        return
    from mle_ext_view.serving import serve

    serve(runs.absolute(), port, in_folder(runs), say=click.echo)
