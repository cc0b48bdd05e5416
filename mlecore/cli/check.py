"""`mlecore check`: is a submission well-formed? No answers needed."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.names import COMPETITION
from mlecore.cli.shared import data_option, edition_option, json_option, print_json, refuse_swapped, synthetic_option
from mlecore.errors import InvalidSubmission


@click.command("check")
@click.argument("submission", type=click.Path(path_type=Path))
@click.argument("competition_id", type=COMPETITION)
@synthetic_option
@edition_option
@data_option
@json_option
def command(
    submission: Path, competition_id: str, synthetic: bool, edition: str, data: tuple[Path, ...], as_json: bool
) -> None:
    """Check that SUBMISSION, a CSV file, is a well-formed submission to COMPETITION_ID.

    Needs public data only. Exit code 0: well-formed; 1: not well-formed, with the reason; 3: the check failed or
    reached the competition's grading limits.
    """
    from mlecore.data.layout import DataDirs
    from mlecore.data.opening import open_prepared
    from mlecore.data.recheck import require_sample
    from mlecore.grading.isolated import IsolatedGrader
    from mlecore.plugins.competitions import competition

    refuse_swapped(submission, competition_id, "check")
    target = competition(competition_id, edition)
    prepared = open_prepared(target, DataDirs.of(data), synthetic=synthetic, verified=False)
    require_sample(target.facts, prepared)
    try:
        with IsolatedGrader() as grader:
            warnings = grader.check(target, submission, prepared.public)
    except InvalidSubmission as error:
        if as_json:
            print_json({"valid": False, "reason": str(error), "warnings": []})
        else:
            click.echo(f"Invalid: {error}")
        raise click.exceptions.Exit(error.exit_code) from None
    if as_json:
        print_json({"valid": True, "reason": None, "warnings": warnings, "incomplete": target.facts.check_incomplete})
        return
    for warning in warnings:
        click.echo(f"Warning: {warning}")
    click.echo(f"{submission} is well-formed for {competition_id}.")
    if target.facts.check_incomplete:
        click.echo(f"Grading may still reject it: {target.facts.check_incomplete}")
