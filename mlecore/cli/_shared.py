"""Options that several verbs share, and how tables are printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlecore.printable import printable

if TYPE_CHECKING:
    from mlecore.runs.record import RunRecord

F = TypeVar("F", bound=Callable[..., Any])


def data_option(function: F) -> F:
    """--data DIR, repeatable: where prepared data lie."""
    return click.option(
        "--data",
        type=click.Path(path_type=Path, file_okay=False),
        multiple=True,
        help="Data directory; repeatable, the first is written to. [env MLECORE_DATA; default: the user's data folder]",
    )(function)


def edition_option(function: F) -> F:
    """--edition v1."""
    return click.option("--edition", default="v1", show_default=True, help="Edition of the competition.")(function)


def split_option(function: F) -> F:
    """--split, repeatable."""
    words = "All installed competitions of a split (lite, low, medium, high, dev); repeatable."
    return click.option("--split", multiple=True, help=words)(function)


def synthetic_option(function: F) -> F:
    """--synthetic: made-up data instead of the download."""
    return click.option("--synthetic", is_flag=True, help="Use synthetic data: no account, no medals.")(function)


def backend_config_option(function: F) -> F:
    """--backend-config FILE: many options of a backend at once."""
    return click.option(
        "--backend-config",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Options of the backend as a TOML file; those of -B override it.",
    )(function)


def backend_options_of(given: Iterable[str], config: Path | None) -> dict[str, str]:
    """What -B and --backend-config say. Raises UsageError."""
    from mlecore.options import pairs, read_options

    return {**(read_options(config) if config is not None else {}), **pairs(given, "-B")}


def json_option(function: F) -> F:
    """--json: machine-readable output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def runs_option(function: F) -> F:
    """--runs DIR: where groups of runs lie."""
    return click.option(
        "--runs",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="MLECORE_RUNS",
        default=Path("runs"),
        show_default=True,
        help="Folder of the groups. [env MLECORE_RUNS]",
    )(function)


def record_json(record: RunRecord) -> dict[str, Any]:
    """A run's record, and its folder."""
    return {**record.to_json(), "folder": str(record.folder)}


def echo(text: str, *, err: bool = False) -> None:
    """Print lines with text from elsewhere."""
    click.echo(printable(text, lines=True), err=err)


def print_json(value: object) -> None:
    """To standard output, indented."""
    click.echo(json.dumps(value, indent=2, default=str))


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """To standard output, the header in bold."""
    first, *rest = table_lines(header, rows)
    click.echo("\n".join([click.style(first, bold=True), *rest]))


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest cell, nothing cut: fit for a terminal, grep and a log alike."""
    lines = [list(header), *(list(map(printable, row)) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
