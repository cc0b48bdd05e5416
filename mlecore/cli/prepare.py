"""`mlecore prepare`: prepare the data of competitions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli.shared import (
    Folder,
    choose,
    competitions_named,
    data_option,
    edition_option,
    json_option,
    print_json,
    split_option,
    synthetic_option,
)
from mlecore.errors import MlecoreError, UsageError

if TYPE_CHECKING:
    from mlecore.data.layout import DataDirs
    from mlecore.data.many import Outcome, Wanted
    from mlecore.data.sources import Source


@click.command("prepare")
@competitions_named("ids")
@split_option
@synthetic_option
@click.option("--seed", type=int, help="Seed of the synthetic data.  [default: 0]")
@click.option("--size", type=float, help="Size of the synthetic data.  [default: 1.0]")
@click.option(
    "--raw", type=click.Path(path_type=Path), help="Use this folder, the unpacked download; it is not changed."
)
@click.option("--archive", type=click.Path(path_type=Path), help="Use this downloaded file; it is not changed.")
@click.option(
    "--sealed",
    type=Folder(),
    help="Keep the answers in this folder, which only you can read; also those of data that are already prepared.",
)
@click.option("--keep-raw", is_flag=True, help="Keep the download and the unpacked files.")
@click.option("--force", is_flag=True, help="Prepare again, even if the data are already prepared.")
@click.option("--skip-verification", is_flag=True, help="Accept data that differ from the published data.")
@data_option
@edition_option
@json_option
def command(
    ids: tuple[str, ...],
    split: tuple[str, ...],
    synthetic: bool,
    seed: int | None,
    size: float | None,
    raw: Path | None,
    archive: Path | None,
    sealed: Path | None,
    keep_raw: bool,
    force: bool,
    skip_verification: bool,
    data: tuple[Path, ...],
    edition: str,
    as_json: bool,
) -> None:
    """Prepare the data of competitions: download, unpack, split, verify.

    By default, data are downloaded from Kaggle with your account, or from a competition's own public source, which
    needs no account. Data that are already prepared stay as they are. After an interruption, run the same command
    again to continue.

    \b
    mlecore prepare spaceship-titanic --synthetic    no account needed
    mlecore prepare optical-digits                   real data, no account needed
    mlecore prepare --split lite                     22 competitions from Kaggle
    mlecore prepare aerial-cactus-identification --archive ~/Downloads/aerial-cactus-identification.zip
    """
    from mlecore.data.layout import DataDirs
    from mlecore.data.many import Wanted
    from mlecore.data.sources import Archive, RawFolder, Synthetic

    if sum([synthetic, raw is not None, archive is not None]) > 1:
        raise UsageError("give one of --synthetic, --raw and --archive")
    if (seed is not None or size is not None) and not synthetic:
        raise UsageError("--seed and --size are those of synthetic data: add --synthetic")
    chosen = choose(ids, split, edition)
    if (raw or archive) and len(chosen) != 1:
        raise UsageError("--raw and --archive go with one competition")
    source: Source | None = Synthetic(seed=seed, size=size) if synthetic else None
    if raw is not None:
        source = RawFolder(raw.absolute())
    elif archive is not None:
        source = Archive(archive.absolute())
    if synthetic and not ids:
        for found in [found for found in chosen if not any(map(found.loaded.implements, ("make_raw", "fetch")))]:
            click.echo(f"{found.id}: skipped, it has no synthetic data", err=True)
            chosen.remove(found)
    wanted = [
        Wanted(competition=found, source=source, force=force, keep_raw=keep_raw, verify=not skip_verification)
        for found in chosen
    ]
    dirs = DataDirs.of(data)
    for found in chosen if force and sealed is None else ():
        before = dirs.find(found.id, found.edition, synthetic)
        if before and before.sealed:
            fix = "Name the folder for the new ones: --sealed DIR"
            raise UsageError(f"the answers of {found.id} are sealed in {before.sealed}", fix=fix)
    outcomes = _prepare(wanted, dirs)
    if sealed is not None:
        from mlecore.data.sealing import seal

        for result in (outcome.result for outcome in outcomes):
            if not isinstance(result, MlecoreError):
                click.echo(f"Answers sealed in {seal(result.prepared, sealed, dirs)}", err=True)
    if as_json:
        print_json([_row(outcome) for outcome in outcomes])
    _summarize(outcomes)


def _prepare(wanted: list[Wanted], dirs: DataDirs) -> list[Outcome]:
    from mlecore.cli._progress import watching
    from mlecore.data.many import prepare_many

    try:
        with watching() as observer:
            return prepare_many(wanted, dirs, observer)
    except KeyboardInterrupt:
        click.echo("Interrupted. Nothing is lost: run the same command to resume.", err=True)
        os._exit(130)  # downloads in other threads would be waited for


def _row(outcome: Outcome) -> dict[str, Any]:
    result = outcome.result
    if isinstance(result, MlecoreError):
        error = {"kind": getattr(result, "kind", type(result).__name__), "message": result.message, "fix": result.fix}
        return {"id": outcome.competition, "state": "failed", "error": error}
    head = result.prepared.manifest
    assert head is not None
    return {
        "id": outcome.competition,
        "state": "prepared" if result.done else "unchanged",
        "notes": result.notes,
        "root": str(result.prepared.root),
        "source": head.source,
        "verified": head.verified,
        "digest": result.prepared.digest,
        "files": head.files,
        "bytes": head.bytes,
    }


def _summarize(outcomes: list[Outcome]) -> None:
    """What to do about those that failed, each advice once; exits with the worst code."""
    failed = [(outcome.competition, outcome.result) for outcome in outcomes if isinstance(outcome.result, MlecoreError)]
    if not failed:
        return
    advice: dict[str, list[str]] = {}
    for name, error in failed:
        if error.fix:
            advice.setdefault(error.fix, []).append(name)
    done = len(outcomes) - len(failed)
    click.echo(f"\n{done} of {len(outcomes)} ready. What to do about the other{'s' * (len(failed) > 1)}:", err=True)
    for name, error in failed:
        if not error.fix:
            click.echo(f"- {name}: {error.message}", err=True)
    for fix, names in advice.items():
        click.echo(f"- {', '.join(names)}: {fix}", err=True)
    raise SystemExit(max(error.exit_code for _, error in failed))
