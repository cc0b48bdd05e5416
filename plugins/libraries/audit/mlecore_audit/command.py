"""The command `mlecore audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.shared import competitions_named, data_option, edition_option, json_option, synthetic_option

if TYPE_CHECKING:
    from mlecore_audit.page import Audited


@click.command("audit")
@competitions_named("ids", required=True)
@edition_option
@synthetic_option
@data_option
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Also write an HTML page."
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    ids: tuple[str, ...],
    edition: str,
    synthetic: bool,
    data: tuple[Path, ...],
    html: Path | None,
    as_json: bool,
) -> None:
    """Look for answers, leaks and grading flaws in prepared data.

    Reads the answers and all public files. Exit codes: 0 nothing above a caution, 1 an answer or a leak, 2 usage
    error, 3 neither, but something could not be examined.
    """
    from mlecore.cli.shared import print_json
    from mlecore.data.layout import DataDirs
    from mlecore.data.opening import open_prepared
    from mlecore.plugins.competitions import competition
    from mlecore_audit.finding import UNEXAMINED
    from mlecore_audit.page import Audited, write_page
    from mlecore_audit.run import audit

    dirs = DataDirs.of(data)
    competitions = [competition(id, edition) for id in ids]
    opened = [open_prepared(each, dirs, synthetic=synthetic, verified=False) for each in competitions]
    for each in opened:
        each.require_answers()
    audited = []
    for chosen, prepared in zip(competitions, opened, strict=True):
        results = audit(chosen, prepared)
        audited.append(Audited(facts=chosen.facts, kind=prepared.kind(chosen.facts), findings=tuple(results)))
        if not as_json:
            _print(audited[-1])
    if as_json:
        print_json([{"competition": one.facts.id, **f.to_json()} for one in audited for f in one.findings])
    if html is not None:
        write_page(audited, html)
    every = [finding for one in audited for finding in one.findings]
    if any(finding.level in ("answer", "leak") for finding in every):
        ctx.exit(1)
    if any(finding.kind == UNEXAMINED for finding in every):
        ctx.exit(3)


def _print(audited: Audited) -> None:
    from mlecore.cli.shared import echo, print_table
    from mlecore_audit.finding import effect

    facts = audited.facts
    echo(f"{facts.id} {facts.edition}, {audited.kind} data: {audited.summary}")
    if not audited.findings:
        return
    rows = []
    for finding in audited.findings:
        words = "; ".join(filter(None, (finding.evidence, effect(finding, facts, audited.kind))))
        rows.append((finding.level, finding.kind, finding.file, words, finding.fix))
    header = ("level", "kind", "file", "evidence", "what to do")
    shown = len(header) - (not any(fix for *_, fix in rows))
    print_table(header[:shown], [[cell or "" for cell in row[:shown]] for row in rows])
