"""`mlecore doctor`: is everything here that runs need?"""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli._names import BACKEND, COMPETITION
from mlecore.cli._shared import (
    backend_config_option,
    backend_options_of,
    data_option,
    json_option,
    print_json,
)
from mlecore.errors import UsageError

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red", "unknown": "red"}


@click.command("doctor")
@click.argument("ids", type=COMPETITION, nargs=-1, metavar="[ID]...")
@click.option("--split", help="Check this split: lite, low, medium, high or dev.  [default: all installed]")
@click.option("--clean", is_flag=True, help="Show and remove what killed commands left.")
@click.option("--backend", type=BACKEND, help="Check only this backend, closely, with the options of -B.")
@click.option("-B", "backend_options", multiple=True, metavar="NAME=VALUE", help="An option of the backend.")
@backend_config_option
@data_option
@json_option
def command(
    ids: tuple[str, ...],
    split: str | None,
    clean: bool,
    backend: str | None,
    backend_options: tuple[str, ...],
    backend_config: Path | None,
    data: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Check that everything that runs need is installed.

    Checks Python, the plugins, the Kaggle login, competitions with rules that you have not accepted yet, disk space,
    files that killed commands left, and each installed backend. Without --clean it changes nothing. Exit code 1: there
    is a problem; 3: something could not be checked.
    """
    from attrs import asdict

    from mlecore.cli._examination import examine, examine_backend
    from mlecore.competitions import competition, installed, of_split
    from mlecore.data.layout import DataDirs

    if backend is not None:
        found = examine_backend(backend, backend_options_of(backend_options, backend_config))
    elif backend_options or backend_config:
        raise UsageError("-B and --backend-config are options of a backend: name it with --backend")
    else:
        wanted = [competition(name) for name in ids] + (of_split(split) if split else [])
        found = examine(wanted if ids or split else installed(), DataDirs.of(data), clean)
    findings = []
    for finding in found:
        findings.append(finding)
        if not as_json:
            click.echo(
                click.style(f"{finding.state:8}", fg=_COLOURS[finding.state]) + f"{finding.area}: {finding.what}"
            )
            for line in (finding.fix or "").splitlines():
                click.echo(f"        -> {line}")
    if as_json:
        print_json([asdict(finding) for finding in findings])
    states = {finding.state for finding in findings}
    raise SystemExit(1 if "problem" in states else 3 if "unknown" in states else 0)
