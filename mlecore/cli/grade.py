"""`mlecore grade`: submissions against the answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.names import COMPETITION
from mlecore.cli.shared import (
    data_option,
    echo,
    edition_option,
    json_option,
    print_json,
    print_table,
    refuse_swapped,
    synthetic_option,
)
from mlecore.errors import MlecoreError, UsageError
from mlecore.util.units import counted

if TYPE_CHECKING:
    from mlecore.grading.batch import Line
    from mlecore.grading.isolated import IsolatedGrader
    from mlecore.model.report import Report


@click.command("grade")
@click.argument("submission", type=click.Path(path_type=Path), required=False)
@click.argument("competition_id", type=COMPETITION, required=False)
@click.option(
    "--jsonl",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Grade all submissions listed in this JSON-lines file.",
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the JSON report here as well.")
@synthetic_option
@edition_option
@data_option
@json_option
def command(
    submission: Path | None,
    competition_id: str | None,
    jsonl: Path | None,
    output: Path | None,
    synthetic: bool,
    edition: str,
    data: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Grade SUBMISSION, a CSV file, for COMPETITION_ID, or all submissions of a JSON-lines file.

    Each line of that file: {"competition_id": "...", "submission_path": "..."}. Exit code 1: a submission is invalid or
    missing; 3: a submission could not be graded.
    """
    from mlecore.grading.batch import Line, read_jsonl

    if jsonl:
        if submission:
            raise UsageError("give either SUBMISSION and COMPETITION_ID, or --jsonl FILE")
        _grade_many(read_jsonl(jsonl), data, edition, synthetic, output, as_json)
        return
    if not (submission and competition_id):
        raise UsageError("say what to grade: mlecore grade SUBMISSION COMPETITION_ID, or mlecore grade --jsonl FILE")
    from mlecore.controller.display import graded_words
    from mlecore.grading.isolated import IsolatedGrader

    refuse_swapped(submission, competition_id, "grade")
    if not submission.exists():
        raise UsageError(f"there is no file {submission}")
    with IsolatedGrader() as grader:
        report = _graded(Line(competition_id, submission), grader, data, edition, synthetic)
    if as_json:
        print_json(report.to_json())
    else:
        echo(f"{report.competition_id}: {graded_words(report, whole=True)}")
    _write(output, report.to_json())
    if report.status != "graded":
        raise click.exceptions.Exit(1)


def _graded(line: Line, grader: IsolatedGrader, data: Sequence[Path], edition: str, synthetic: bool) -> Report:
    from mlecore.data.layout import DataDirs
    from mlecore.data.opening import open_prepared
    from mlecore.plugins.competitions import competition

    target = competition(line.competition_id, edition)
    prepared = open_prepared(target, DataDirs.of(data), synthetic=synthetic, verified=False)
    return grader.grade(target, line.submission_path, prepared)


def _grade_many(
    lines: list[Line], data: Sequence[Path], edition: str, synthetic: bool, output: Path | None, as_json: bool
) -> None:
    import os
    from concurrent.futures import ThreadPoolExecutor

    from mlecore.grading.batch import totals
    from mlecore.grading.isolated import IsolatedGrader

    def one(line: Line) -> Report | MlecoreError:
        try:
            return _graded(line, grader, data, edition, synthetic)
        except MlecoreError as error:
            return error

    with IsolatedGrader() as grader, ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(one, lines))
    reports = [result for result in results if not isinstance(result, MlecoreError)]
    failures = [(line, result) for line, result in zip(lines, results, strict=True) if isinstance(result, MlecoreError)]
    batch = totals(reports)
    if failures:
        batch["errors"] = [{"competition_id": line.competition_id, "error": str(error)} for line, error in failures]
    if as_json:
        print_json(batch)
    else:
        print_table(["COMPETITION", "SCORE", "MEDAL", "SUBMISSION", "REASON"], [_row(report) for report in reports])
        click.echo(
            f"{counted(batch['total_runs'], 'submission')}: {batch['total_valid_submissions']} valid, "
            f"{batch['total_medals']} medals, {batch['total_above_median']} above the median"
        )
    _write(output, batch)
    for line, error in failures:
        click.echo(f"Error: {line.competition_id}, {line.submission_path}: {error}", err=True)
    if failures:
        raise click.exceptions.Exit(max(error.exit_code for _, error in failures))
    if any(report.status != "graded" for report in reports):
        raise click.exceptions.Exit(1)


def _row(report: Report) -> list[str]:
    from mlecore.model.data_kind import no_medals

    score = report.score_text if report.score is None else f"{report.score:.5f}"
    why = report.reason.partition("\n")[0]
    if report.status == "graded" and report.gold_threshold is None:
        why = f"no medals: {no_medals(report.data_kind, report.comparability)}"
    place = report.medal or report.reference_words
    return [report.competition_id, score or report.status, place, report.submission_path, why]


def _write(path: Path | None, value: object) -> None:
    if path is None:
        return
    import json

    from mlecore.util.files import output

    with output(path) as new:
        new.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8", newline="\n")
