"""`mlecore prepare`: prepare the data of competitions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlecore.cli._shared import (
    competitions_named,
    data_option,
    edition_option,
    json_option,
    print_json,
    print_table,
    split_option,
)
from mlecore.errors import MlecoreError

if TYPE_CHECKING:
    from mlecore.competitions import Competition
    from mlecore.data.layout import DataDirs
    from mlecore.data.many import Outcome, Wanted
    from mlecore.data.sources import Source


@click.command("prepare")
@competitions_named("ids")
@split_option
@click.option("--all", "everything", is_flag=True, help="All installed competitions.")
@click.option(
    "--synthetic", is_flag=True, help="Use synthetic data instead of the download: no Kaggle account, no medals."
)
@click.option("--seed", type=int, help="Seed of the synthetic data.  [default: 0]")
@click.option("--size", type=float, help="Size of the synthetic data.  [default: 1.0]")
@click.option(
    "--raw", type=click.Path(path_type=Path), help="Use this folder, the unpacked download; it is not changed."
)
@click.option("--archive", type=click.Path(path_type=Path), help="Use this downloaded file; it is not changed.")
@click.option("--keep-raw", is_flag=True, help="Keep the download and the unpacked files.")
@click.option("--force", is_flag=True, help="Prepare again, even if the data are already prepared.")
@click.option("--skip-verification", is_flag=True, help="Accept data that differ from the published data.")
@click.option("--verify", is_flag=True, help="Verify the files of prepared data against their hashes.")
@click.option("--list", "listing", is_flag=True, help="List prepared data.")
@data_option
@edition_option
@json_option
def command(
    ids: tuple[str, ...],
    split: tuple[str, ...],
    everything: bool,
    synthetic: bool,
    seed: int | None,
    size: float | None,
    raw: Path | None,
    archive: Path | None,
    keep_raw: bool,
    force: bool,
    skip_verification: bool,
    verify: bool,
    listing: bool,
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

    dirs = DataDirs.of(data)
    _refuse_contradictions(synthetic, seed, size, raw, archive, verify, listing, force)
    if listing:
        _list(dirs, [found.id for found in _choose((), split, False, edition)] + [*ids] if split else ids, as_json)
        return
    chosen = _choose(ids, split, everything, edition)
    if (raw or archive) and len(chosen) != 1:
        raise click.UsageError("--raw and --archive go with one competition")
    if verify:
        there = [found for found in chosen if ids or dirs.find(found.id, found.edition, synthetic)]
        _verify(there, dirs, synthetic, as_json)
        return
    source = _source(synthetic, seed, size, raw, archive)
    if synthetic and not ids:
        for found in [found for found in chosen if not {"make_raw", "fetch"} & set(found.loaded.hooks)]:
            click.echo(f"{found.id}: skipped, it has no synthetic data", err=True)
            chosen.remove(found)
    wanted = [
        Wanted(competition=found, source=source, force=force, keep_raw=keep_raw, verify=not skip_verification)
        for found in chosen
    ]
    outcomes = _prepare(wanted, dirs)
    if as_json:
        print_json([_row(outcome) for outcome in outcomes])
    _summarize(outcomes)


def _refuse_contradictions(
    synthetic: bool,
    seed: int | None,
    size: float | None,
    raw: Path | None,
    archive: Path | None,
    verify: bool,
    listing: bool,
    force: bool,
) -> None:
    if sum([synthetic, raw is not None, archive is not None]) > 1:
        raise click.UsageError("give one of --synthetic, --raw and --archive")
    if (seed is not None or size is not None) and not synthetic:
        raise click.UsageError("--seed and --size are those of synthetic data: add --synthetic")
    if (verify or listing) and (force or raw or archive):
        raise click.UsageError("--verify and --list change nothing: leave out --force, --raw and --archive")


def _choose(ids: tuple[str, ...], split: tuple[str, ...], everything: bool, edition: str) -> list[Competition]:
    from mlecore.competitions import competition, working

    if not ids and not split and not everything:
        raise click.UsageError("name competitions, or give --split or --all")
    names = list(ids)
    for name in split:
        names += [plugin.name for plugin in working(name)]
    if everything:
        names += [plugin.name for plugin in working() if edition in plugin.editions]
    if not names:
        raise click.UsageError("no such competition is installed; `mlecore competitions` lists those that are")
    return [competition(name, edition) for name in dict.fromkeys(names)]


def _source(
    synthetic: bool, seed: int | None, size: float | None, raw: Path | None, archive: Path | None
) -> Source | None:
    from mlecore.data.sources import Archive, RawFolder, Synthetic

    if synthetic:
        return Synthetic(seed=seed, size=size)
    if raw is not None:
        return RawFolder(raw.absolute())
    return None if archive is None else Archive(archive.absolute())


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


def _list(dirs: DataDirs, ids: Sequence[str], as_json: bool) -> None:
    from attrs import asdict

    from mlecore.units import show_size

    found = [prepared for prepared in dirs.all() if not ids or prepared.competition in ids]
    if as_json:
        print_json(
            [
                {
                    "id": prepared.competition,
                    "edition": prepared.edition,
                    "synthetic": prepared.synthetic,
                    "root": str(prepared.root),
                    "manifest": None if prepared.manifest is None else asdict(prepared.manifest),
                }
                for prepared in found
            ]
        )
        return
    if not found:
        click.echo(f"Nothing is prepared in {', '.join(map(str, dirs.dirs))}.")
        return
    rows = []
    for prepared in found:
        head = prepared.manifest
        rows.append(
            [
                prepared.competition,
                prepared.edition,
                "mle-bench, not yet verified" if head is None else head.source,
                "-" if head is None else show_size(head.bytes),
                "-" if head is None else ("yes" if head.verified else "no"),
                str(prepared.root),
            ]
        )
    print_table(["ID", "EDITION", "FROM", "SIZE", "AS PUBLISHED", "WHERE"], rows)


def _verify(chosen: list[Competition], dirs: DataDirs, synthetic: bool, as_json: bool) -> None:
    from mlecore.cli._progress import watching
    from mlecore.data.recheck import recheck

    rows: list[dict[str, Any]] = []
    with watching() as observer:
        for competition in chosen:
            problems = recheck(competition, dirs, synthetic, partial(observer.progress, competition.id))
            rows.append({"id": competition.id, "intact": not problems, "problems": problems})
    for row in [] if as_json else rows:
        problems = row["problems"]
        click.echo(f"{row['id']}: " + ("intact" if row["intact"] else "not intact:"))
        for problem in problems[:20]:
            click.echo(f"  {problem}")
        if len(problems) > 20:
            click.echo(f"  ... and {len(problems) - 20} more")
    if as_json:
        print_json(rows)
    if any(row["problems"] for row in rows):
        raise SystemExit(1)
