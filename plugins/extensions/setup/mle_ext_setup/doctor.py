"""`mlecore doctor`: check this machine's setup."""

from __future__ import annotations

from pathlib import Path

import click

from mlecore.cli.names import BACKEND
from mlecore.cli.shared import (
    backend_config_option,
    backend_options_of,
    competitions_named,
    data_option,
    json_option,
    print_json,
    split_option,
)
from mlecore.errors import UsageError

_COLOURS = {"ok": "green", "not set up": "blue", "warning": "yellow", "problem": "red", "unknown": "red"}


@click.command("doctor")
@competitions_named("ids")
@split_option
@click.option("--clean", is_flag=True, help="Remove leftovers of killed commands, and unused obfuscated data.")
@click.option("--backend", type=BACKEND, help="Check only this backend, in detail, with the options given by -B.")
@click.option("-B", "backend_options", multiple=True, metavar="NAME=VALUE", help="Option for the backend.")
@backend_config_option
@data_option
@json_option
def command(
    ids: tuple[str, ...],
    split: tuple[str, ...],
    clean: bool,
    backend: str | None,
    backend_options: tuple[str, ...],
    backend_config: Path | None,
    data: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Check this machine's setup.

    Checks Python, plugins, the Kaggle login, disk space, files left by killed commands, and each installed backend; for
    named competitions also their rules and the space for their downloads. Anything that only some users need is "not
    set up", unless you ask for it (an ID, --split, --backend). Changes nothing without --clean. Exit code 1: a problem
    was found; 3: something could not be checked.
    """
    from attrs import asdict

    from mle_ext_setup.examination import examine, examine_backend
    from mlecore.data.layout import DataDirs
    from mlecore.plugins.competitions import competition, of_split

    if backend is not None:
        found = examine_backend(backend, backend_options_of(backend_options, backend_config))
    elif backend_options or backend_config:
        raise UsageError("-B and --backend-config are options of a backend: name it with --backend")
    else:
        wanted = [competition(name) for name in ids] + [found for each in split for found in of_split(each)]
        found = examine(wanted, DataDirs.of(data), clean)
    findings = []
    for finding in found:
        findings.append(finding)
        if not as_json:
            click.echo(
                click.style(f"{finding.state:11}", fg=_COLOURS[finding.state]) + f"{finding.area}: {finding.what}"
            )
            for line in (finding.fix or "").splitlines():
                click.echo(f"           -> {line}")
    if as_json:
        print_json([asdict(finding) for finding in findings])
    states = {finding.state for finding in findings}
    raise SystemExit(1 if "problem" in states else 3 if "unknown" in states else 0)
