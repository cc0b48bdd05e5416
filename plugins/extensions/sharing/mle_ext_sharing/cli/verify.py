"""`mlecore runs verify`: check that a group or a bundle is whole and unchanged, and perhaps grade it again."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.names import GROUP
from mlecore.cli.runs._names import group_folder
from mlecore.cli.shared import data_option, echo, runs_option
from mlecore.errors import DataError, UsageError

if TYPE_CHECKING:
    from mle_ext_sharing.bundle import Opened

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("verify")
@click.argument("name", type=GROUP, metavar="GROUP | BUNDLE")
@click.option("--regrade", is_flag=True, help="Grade every submission again; needs the prepared data.")
@click.option("--allowed-signers", type=_FILE, metavar="FILE", help="Require a signature by one of these; as for git.")
@click.option("--key", type=_FILE, metavar="FILE", help="Require a signature by this public key.")
@click.option("--countersign", type=_FILE, metavar="KEY", help="Sign the result of --regrade or --rerun.")
@click.option("--rerun", type=GROUP, metavar="GROUP", help="Your own group of the same runs, for --countersign.")
@data_option
@runs_option
def command(
    name: str,
    regrade: bool,
    allowed_signers: Path | None,
    key: Path | None,
    countersign: Path | None,
    rerun: str | None,
    data: tuple[Path, ...],
    runs: Path,
) -> None:
    """Verify a group or an exported bundle against its hashes and signatures.

    Compares the runs with the plan, and records, submissions, grades, logs, code, snapshots and findings with their
    hashes. For a signed bundle it prints who signed it, and what that does not prove. With --countersign, a second
    party adds a signature if everything was right. Exit code 1 if something is missing or changed; 3 if that cannot be
    decided, e.g. without an export's list of hashes, or if a run could not be graded again.
    """
    from mle_ext_sharing.bundle import HEAD, WrongBundle, open_bundle
    from mle_ext_sharing.verifying import verify_group
    from mlecore.runs.folders import is_group
    from mlecore.util.units import first

    if bool(countersign) != (regrade or bool(rerun)) and (countersign or rerun):
        raise UsageError("--countersign signs what --regrade or --rerun found", fix="Give both, or neither.")
    if allowed_signers and key:
        raise UsageError("--allowed-signers and --key cannot be used together")

    path = runs / name if (runs / name).exists() else Path(name)
    if not path.exists():
        raise UsageError(f"there is no group {name!r} in {runs}, nor a bundle", fix="To see groups: mlecore runs list")
    is_bundle = (path / HEAD).is_file() or not is_group(path)
    if not is_bundle and (allowed_signers or key or countersign):
        raise UsageError(f"{path} is a group, and only exports are signed", fix="mlecore runs export GROUP --sign KEY")
    with open_bundle(path) if is_bundle else nullcontext() as opened:
        folder, intact = path, "all as they were written"
        if opened:
            folder, intact = opened.group, f"all {len(opened.bundle.files)} files are as they were exported"
        try:
            verdict = verify_group(folder, opened.bundle if opened else None)
        except DataError as error:  # its list fits, and its files make no sense
            raise WrongBundle(error.message) if opened else error from None
        for line in (*first(verdict.wrong), *first(verdict.undecided)):
            echo(line)
        if verdict.wrong:
            raise click.exceptions.Exit(1)
        if not verdict.undecided:
            echo(f"{folder.name}: {verdict}, {intact}")
        if opened and not _check_signatures(opened, allowed_signers, key):
            raise click.exceptions.Exit(1)
        same, code = _regrade(folder, data) if regrade else (0, 0)
        code = code or (3 if verdict.undecided else 0)
        if countersign and not code:
            own = group_folder(runs, rerun) if rerun else None
            _countersign(path, folder, countersign, same, own, allowed_signers)
    raise click.exceptions.Exit(code)


def _regrade(group: Path, data: tuple[Path, ...]) -> tuple[int, int]:
    """How many runs were graded as before, and the exit code."""
    from mle_ext_sharing.regrade import regrade
    from mlecore.data.layout import DataDirs
    from mlecore.util.units import first

    found = regrade(group, DataDirs.of(data))
    for line in first([f"{each.run}: {line}" for each in found.different for line in each.different]):
        echo(line)
    for line in first([f"{each.run}: {each.undecided}" for each in found.undecided]):
        echo(f"could not be graded again: {line}", err=True)
    different, undecided = len(found.different), len(found.undecided)
    echo(f"graded again: {found.same} the same, {different} different, {undecided} undecided")
    return found.same, 1 if different else 3 if undecided else 0


def _check_signatures(opened: Opened, allowed: Path | None, key: Path | None) -> bool:
    """Print who says what. Are all signatures good, and is there one if the caller named signers?"""
    from mle_ext_sharing.signed import NOT_PROVED, absent, read_signatures
    from mle_ext_sharing.ssh_signatures import allowed_key
    from mlecore.util.units import first

    with allowed_key(key) if key else nullcontext(allowed) as signers:
        found = read_signatures(opened.source, opened.group, signers)
    for line in first(found.wrong):
        echo(line)
    for signed in found.signed:
        echo(str(signed))
        echo(f"  Others vouch for: {absent(signed.statement.predicate.attestations)}")
    if found.signed:
        if signers is None:
            echo("Whose keys these are is unknown: name them with --allowed-signers or --key.")
        echo(NOT_PROVED)
    elif not found.wrong:
        echo("Nobody has signed it." + (" A signature was demanded." if signers else ""))
    return not found.wrong and bool(found.signed or signers is None)


def _countersign(bundle: Path, group: Path, key: Path, regraded: int, rerun: Path | None, allowed: Path | None) -> None:
    """Add the signature of a second party that graded the submissions again, or ran the group again."""
    from mle_ext_sharing.rerun import compare
    from mle_ext_sharing.signed import add_signature
    from mle_ext_sharing.statement import Comparison

    if rerun is None:
        if not regraded:
            raise UsageError("no run was graded again, so there is nothing to sign")
        statement = add_signature(bundle, group, key, "graded again", Comparison(runs=regraded), allowed)
    else:
        statement = add_signature(bundle, group, key, "ran again", compare(group, rerun), allowed)
    echo(f"Signed: {statement}")
