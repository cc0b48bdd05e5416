"""Commands of `mlecore data`: prepared data from one machine to another, and the leaderboards for them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from mlecore.cli.shared import competitions_named, data_option, edition_option

_synthetic = click.option("--synthetic", is_flag=True, help="Use the synthetic data.")


@click.command("push")
@click.argument("url")
@competitions_named("ids", required=True)
@_synthetic
@data_option
@edition_option
def push(url: str, ids: tuple[str, ...], synthetic: bool, data: tuple[Path, ...], edition: str) -> None:
    """Copy public data to URL, never the answers.

    URL can be any storage that fsspec supports: a folder, NFS, s3://, gs:// ... s3 also needs the package s3fs, gs
    needs gcsfs.
    """
    from mle_ext_data_sharing import copying
    from mlecore.cli._progress import watching
    from mlecore.data.layout import DataDirs
    from mlecore.data.opening import open_prepared
    from mlecore.plugins.competitions import competition

    dirs = DataDirs.of(data)
    for id in ids:
        prepared = open_prepared(competition(id, edition), dirs, synthetic=synthetic)
        with watching() as observer:
            done = copying.push(prepared, dirs, url, partial(observer.progress, id))
        click.echo(f"{id}: {'copied to' if done else 'is already at'} {url}")


@click.command("pull")
@click.argument("url")
@competitions_named("ids", required=True)
@_synthetic
@data_option
@edition_option
def pull(url: str, ids: tuple[str, ...], synthetic: bool, data: tuple[Path, ...], edition: str) -> None:
    """Copy public data from URL (see push), and verify each file.

    Agents can work on the data, but submissions cannot be graded without the answers.
    """
    from mle_ext_data_sharing import copying
    from mlecore.cli._progress import watching
    from mlecore.data.layout import DataDirs

    dirs = DataDirs.of(data)
    for id in ids:
        with watching() as observer:
            progress = partial(observer.progress, id)
            done = copying.pull(id, dirs, url, edition=edition, synthetic=synthetic, progress=progress)
        click.echo(f"{id}: {'copied from' if done else 'already matches'} {url}")


@click.command("leaderboard")
@competitions_named("ids", required=True)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True),
    help="Table with a column `score`, or folder with ID/leaderboard.csv. [default: Kaggle]",
)
@data_option
def leaderboard(ids: tuple[str, ...], source: Path | None, data: tuple[Path, ...]) -> None:
    """Get human leaderboards, for ranks on data that somebody else prepared.

    Only scores are kept, no names. Medals need no leaderboard.
    """
    from mle_ext_data_sharing.leaderboards import provide
    from mlecore.cli._progress import watching
    from mlecore.data.layout import DataDirs
    from mlecore.plugins.competitions import competition
    from mlecore.util.units import counted

    dirs = DataDirs.of(data)
    for id in ids:
        with watching() as observer:
            path, teams = provide(competition(id).facts, dirs, source, partial(observer.progress, id))
        click.echo(f"{id}: {counted(teams, 'team')} in {path}")
