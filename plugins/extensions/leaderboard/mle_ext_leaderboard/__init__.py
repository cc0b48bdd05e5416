"""The command `mlecore leaderboard`: a folder of signed exports, checked and shown as a static site."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from mlecore.cli.shared import data_option, echo, table_lines
from mlecore.util import files


@click.group("leaderboard")
def command() -> None:
    """Keep a leaderboard: a git repository of signed exports that anyone can check.

    docs/leaderboard.md explains its files, checks and figures.
    """


_FOLDER = click.Path(path_type=Path, file_okay=False)
_board = click.option("--board", type=_FOLDER, default=".", help="The leaderboard. [default: current directory]")


@command.command("new")
@click.argument("folder", type=_FOLDER)
@click.option("--title", default="Leaderboard", show_default=True, help="Title of the site.")
def new(folder: Path, title: str) -> None:
    """Create a leaderboard in a new FOLDER.

    It has rules (leaderboard.toml), allowed_signers, and workflows for GitHub Actions that check pull requests and
    publish the site.
    """
    from mle_ext_leaderboard.creating import create_board

    create_board(folder, title)
    echo(f"{folder}: edit leaderboard.toml, then add entries: mlecore leaderboard add NAME EXPORT --board {folder}")


@command.command("add")
@click.argument("name")
@click.argument("export", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--address", default="", metavar="URL", help="URL of the export, which is then not copied.")
@click.option("--corrects", default="", metavar="ENTRY", help="The entry that this one replaces.")
@click.option("--retracts", default="", metavar="ENTRY", help="The entry to withdraw; needs no export.")
@click.option("--reason", default="", help="Why an entry is corrected or withdrawn.")
@click.option(
    "--sign",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="KEY",
    help="Sign the correction or retraction, with an SSH key that signed ENTRY.",
)
@_board
def add(
    name: str,
    export: Path | None,
    address: str,
    corrects: str,
    retracts: str,
    reason: str,
    sign: Path | None,
    board: Path,
) -> None:
    """Add an entry from an EXPORT of mlecore runs export.

    Writes entries/NAME/ with the export, its results, and entry.toml, whose open lines you complete.
    """
    from mle_ext_leaderboard.adding import add_result, add_retraction
    from mle_ext_leaderboard.board import open_board
    from mlecore.errors import UsageError

    opened = open_board(board)
    if (corrects and retracts) or {bool(reason), bool(sign)} != {bool(corrects or retracts)}:
        raise UsageError(
            "a correction or retraction needs --reason and --sign", fix="Give one of the two, a reason and a key."
        )
    if bool(export) == bool(retracts):
        raise UsageError("a result needs an EXPORT, and a retraction has none")
    if export:
        folder = add_result(opened, name, export, corrects=corrects, reason=reason, key=sign, address=address)
    elif sign:
        folder = add_retraction(opened, name, retracts, reason, sign)
    echo(f"{folder}: complete entry.toml, then: mlecore leaderboard check {name} --board {board}")


@command.command("check")
@click.argument("names", nargs=-1, metavar="[ENTRY]...")
@click.option(
    "--base", metavar="REF", help="Check what a pull request adds to this branch, and that it changes no entry."
)
@click.option("--export", type=click.Path(path_type=Path, exists=True), help="The export of ENTRY, if kept elsewhere.")
@click.option("--regrade", is_flag=True, help="Grade all submissions again; needs the prepared data.")
@click.option(
    "--comment", type=click.Path(path_type=Path, dir_okay=False), help="Write a Markdown comment to this file."
)
@_board
@data_option
def check(
    names: tuple[str, ...],
    base: str | None,
    export: Path | None,
    regrade: bool,
    comment: Path | None,
    board: Path,
    data: tuple[Path, ...],
) -> None:
    """Check entries: all, those named, or those of a pull request.

    Schema, signatures, hashes, results, disclosures against records, conditions, seeds and competitions, budgets and
    findings of detectors. Without --regrade, scores are what the entry claims. Exit code 1 if an entry is rejected, 3
    if that could not be decided: its export is kept elsewhere, or a submission could not be graded again.
    """
    from mle_ext_leaderboard.board import open_board, require_name
    from mle_ext_leaderboard.changes import changes
    from mle_ext_leaderboard.checking import check_entry, guarded
    from mle_ext_leaderboard.comment import markdown, ordered
    from mle_ext_leaderboard.duplicates import known_of
    from mle_ext_leaderboard.proofs import HEADER, proofs
    from mlecore.data.layout import DataDirs
    from mlecore.errors import UsageError

    opened = open_board(board)
    if (base and names) or (export and len(names) != 1):
        raise UsageError("--base takes no ENTRY, and --export takes one")
    found = changes(board, base) if base else None
    chosen = [require_name(name) for name in names] or list(found.entries if found else opened.names())
    dirs = DataDirs.of(data) if regrade else None
    remarks = list(found.remarks) if found else []
    for remark in ordered(remarks):
        echo(f"{remark.level}: {remark.words}")
    checks = []
    known = known_of(opened, base or "HEAD")
    for name in chosen:
        checks.append(done := guarded(name, partial(check_entry, opened, name, known, export=export, regrade=dirs)))
        echo(f"{name}: {('accepted', 'rejected', '', 'undecided')[done.exit_code]}")
        for remark in ordered(done.remarks):
            echo(f"  {remark.level}, {remark.check}: {remark.words}")
        for signed in done.signed:
            echo(f"  {signed}")
        if rows := list(proofs(done)):
            echo("\n".join(f"  {line}" for line in table_lines([word.upper() for word in HEADER], rows)))
    if comment:
        with files.output(comment) as new:
            new.write_text(markdown(checks, remarks), encoding="utf-8")
    codes = {done.exit_code for done in checks} | {1 for remark in remarks if remark.level == "error"}
    raise click.exceptions.Exit(1 if 1 in codes else 3 if 3 in codes else 0)


@command.command("build")
@click.option("--to", type=_FOLDER, required=True, help="Folder for the site; an earlier build is replaced.")
@_board
def build(to: Path, board: Path) -> None:
    """Build the static site: tables, a page per entry, JSON, CSV and an Atom feed."""
    from mle_ext_leaderboard.board import open_board
    from mle_ext_leaderboard.site import build_site

    done = build_site(open_board(board), to)
    echo(f"{to / 'index.html'}: {done}")
