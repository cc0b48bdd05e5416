"""The command `mlecore familiarity`: does a model know competitions' pages, and do scores go with that?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlecore.cli._names import COMPETITION
from mlecore.cli._shared import json_option, print_json, runs_option, split_option
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mle_ext_familiarity.measure import Familiarity
    from mle_ext_familiarity.relation import Relation


@click.command("familiarity")
@click.option("--model", required=True, help="Name of the model, as the endpoint knows it.")
@click.option("--endpoint", required=True, metavar="URL", help="Base URL of an API with completions that echo.")
@click.option("--key", metavar="NAME", help="Environment variable with the API key.")
@click.option(
    "--texts",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with a text per competition: ID.md, ID.txt or ID.html.",
)
@click.option("--competition", type=COMPETITION, multiple=True, metavar="ID", help="Competition; repeatable.")
@split_option
@click.option("--group", multiple=True, help="Group whose scores are related to familiarity; repeatable.")
@runs_option
@json_option
def command(
    model: str,
    endpoint: str,
    key: str | None,
    texts: Path,
    competition: tuple[str, ...],
    split: tuple[str, ...],
    group: tuple[str, ...],
    runs: Path,
    as_json: bool,
) -> None:
    """Measure how familiar a model is with competitions: the mean probability of a token of a text about each.

    The control is the obfuscated description, which is not on the page of the competition.
    """
    from attrs import asdict

    from mle_ext_familiarity.measure import measure, texts_of
    from mle_ext_familiarity.probability import Endpoint
    from mle_ext_familiarity.relation import positions, relate
    from mlecore.competitions import of_split
    from mlecore.model_access import usual_key

    wanted = [*competition, *(found.id for name in split for found in of_split(name))]
    chosen = texts_of(texts, wanted)
    name = key or usual_key(endpoint)
    if key and not os.environ.get(key):
        raise UsageError(f"the variable {key} is not set", fix=f"export {key}=...")
    scores = positions(group, runs) if group else {}
    source = Endpoint(url=endpoint, model=model, key=os.environ.get(name) if name else None)
    found = [measure(source, id, path, scores.get(id)) for id, path in chosen.items()]
    relations = relate(found) if group else []
    if as_json:
        print_json({"model": model, "competitions": [*map(asdict, found)], "relations": [*map(asdict, relations)]})
        return
    _show(found, relations)


def _show(found: list[Familiarity], relations: list[Relation]) -> None:
    width = max(len(each.competition) for each in found)
    click.echo(f"{'competition':{width}}    text  control  difference  tokens  position")
    for each in found:
        position = "" if each.position is None else f"{each.position:.3f}"
        values = f"{each.text:8.4f} {each.control:8.4f} {each.difference:11.4f} {each.tokens:7}"
        click.echo(f"{each.competition:{width}}{values}{position:>10}".rstrip())
    for relation in relations:
        click.echo(str(relation))
