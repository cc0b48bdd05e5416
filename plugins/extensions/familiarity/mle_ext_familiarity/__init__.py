"""The command `mlecore familiarity`: does a model know competitions, and do scores go with that?"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli.shared import (
    competitions_named,
    data_option,
    echo,
    json_option,
    print_json,
    print_table,
    runs_option,
    split_option,
)
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mle_ext_familiarity.calls import Calls
    from mle_ext_familiarity.measured import Measure

_DAY = click.DateTime(["%Y-%m-%d", "%Y-%m"])


@click.command("familiarity")
@click.option("--model", required=True, help="Name of the model, as the endpoint knows it.")
@click.option("--endpoint", required=True, metavar="URL", help="Base URL of an API with completions.")
@click.option("--key", metavar="NAME", help="Environment variable with the API key.")
@click.option(
    "--measure",
    type=click.Choice(["text", "questions", "answers"]),
    default="text",
    show_default=True,
    help="Token probabilities of a text, questions about facts, or labels of the test part.",
)
@click.option(
    "--texts",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with a text per competition: ID.md, ID.txt or ID.html.",
)
@click.option(
    "--kaggle", is_flag=True, help="Fetch pages, and the days on which competitions ended, from Kaggle with your login."
)
@competitions_named("--competition", help="Competition")
@split_option
@click.option("--rows", type=click.IntRange(1), default=100, show_default=True, help="Rows to ask for (answers).")
@click.option("--synthetic", is_flag=True, help="Ask about synthetic data: nobody can know their answers.")
@click.option("--calls", "most", type=click.IntRange(0), help="Maximum number of calls to the endpoint.")
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Journal of answers, with which the same command continues. [default: familiarity.jsonl in the runs folder]",
)
@click.option("--cutoff", type=_DAY, help="Day or month of the model's training cut-off, e.g. 2024-06.")
@click.option(
    "--ended",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="CSV file with the columns id and ended (2019-07-08), for --cutoff.",
)
@click.option("--group", multiple=True, help="Group whose scores are related, and whose report shows it; repeatable.")
@runs_option
@data_option
@json_option
def command(
    model: str,
    endpoint: str,
    key: str | None,
    measure: Measure,
    texts: Path | None,
    kaggle: bool,
    competition: tuple[str, ...],
    split: tuple[str, ...],
    rows: int,
    synthetic: bool,
    most: int | None,
    journal: Path | None,
    cutoff: datetime | None,
    ended: Path | None,
    group: tuple[str, ...],
    runs: Path,
    data: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Measure how familiar a model is with competitions.

    text: the mean probability of a token of the competition's page, by an endpoint that echoes log-probabilities; the
    control is the obfuscated description. questions: facts about the competition, for other endpoints. answers: labels
    of the test part, given ids alone. With --group, the result is related to scores and shown in the group's report.
    """
    from attrs import asdict, evolve

    from mle_ext_familiarity.appendix import appendix
    from mle_ext_familiarity.calls import Calls, Endpoint
    from mle_ext_familiarity.probing import days, probe
    from mle_ext_familiarity.relation import by_age, positions, relate
    from mlecore.data.layout import DataDirs
    from mlecore.model.model_access import usual_key
    from mlecore.plugins.competitions import of_split

    name = key or usual_key(endpoint)
    if key and not os.environ.get(key):
        raise UsageError("--key names a variable that is not set", fix="export NAME=... and give --key NAME.")
    wanted = [*competition, *(found.id for each in split for found in of_split(each))]
    if cutoff and not (kaggle or ended):
        raise UsageError("--cutoff needs the days when competitions ended", fix="Add --ended FILE or --kaggle.")
    kept = journal or runs / "familiarity.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    calls = Calls(Endpoint(url=endpoint, model=model, key=os.environ.get(name) if name else None), kept, most)
    scores = positions(group, runs) if group else {}
    when = days(ended) if ended else {}
    found = []
    try:
        for each, day in probe(calls, measure, wanted, texts, kaggle, DataDirs.of(data), rows, synthetic):
            found.append(evolve(each, position=scores.get(each.competition)))
            if day is not None:
                when.setdefault(each.competition, day)
    finally:
        _costs(calls, kept)
    relations = relate(found) if group else []
    ages = by_age(found, when, cutoff.date()) if cutoff else []
    result = appendix(model, measure, found, relations, ages, when)
    for one in group:
        result.write(runs / one if (runs / one).is_dir() else Path(one))
    if as_json:
        print_json(
            {
                "model": model,
                "competitions": [*map(asdict, found)],
                "relations": [*map(asdict, relations)],
                "ages": [asdict(each) | {"cutoff": str(each.cutoff)} for each in ages],
            }
        )
        return
    print_table(result.header, result.rows)
    for note in [*map(str, relations), *map(str, ages)]:
        echo(note)


def _costs(calls: Calls, journal: Path) -> None:
    tokens = f"{calls.input_tokens:,} input and {calls.output_tokens:,} output tokens"
    click.echo(f"{calls.made} calls, {calls.kept} answers from {journal}; {tokens} as reported", err=True)
