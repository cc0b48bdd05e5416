"""One measure over the competitions that were asked for."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mle_ext_familiarity import answers, questions, text
from mle_ext_familiarity.calls import Calls
from mle_ext_familiarity.measured import Measure, Measured
from mlecore.errors import UsageError

if TYPE_CHECKING:
    from mlecore.data.layout import DataDirs

Probed = tuple[Measured, date | None]


def probe(
    calls: Calls,
    measure: Measure,
    wanted: Sequence[str],
    texts: Path | None,
    kaggle: bool,
    dirs: DataDirs,
    rows: int,
    synthetic: bool,
) -> Iterator[Probed]:
    """Each competition's result, and the day when it ended, if Kaggle gave that. Raises MlecoreError."""
    from mlecore import competition
    from mlecore.data.opening import open_prepared
    from mlecore.plugins.competitions import all_competitions

    if measure == "text" and texts is not None:
        for id, path in text.texts_of(texts, wanted).items():
            yield text.measure(calls, id, text.read_text(path)), _ended(id) if kaggle else None
        return
    if not wanted:
        raise UsageError("no competition is named", fix="Add --competition ID or --split lite.")
    if measure == "text" and not kaggle:
        raise UsageError(
            "there is no text to measure", fix="Add --texts DIR, or --kaggle to take pages with your login."
        )
    everyone = [found.facts for found in all_competitions()]
    skipped = []
    for id in dict.fromkeys(wanted):
        found = competition(id)
        if measure == "text":
            from mle_ext_familiarity.kaggle_page import fetch_page

            page = fetch_page(found.facts)
            yield text.measure(calls, id, text.visible(page.content)), page.ended
            continue
        day = _ended(id) if kaggle else None
        if measure == "questions":
            best = None if (board := dirs.leaderboard(id)) is None else _best(board)
            yield questions.measure(calls, found.facts, everyone, best), day
            continue
        private = open_prepared(found, dirs, synthetic=synthetic).private
        try:
            answers.labels_of(found, private)
        except UsageError as error:
            skipped.append(error.message)
            click.echo(f"left out: {error.message}", err=True)
            continue
        yield answers.measure(calls, found, private, rows), day
    if len(skipped) == len(dict.fromkeys(wanted)):
        raise UsageError(f"no competition has labels to ask for: {skipped[0]}")


def days(path: Path) -> dict[str, date]:
    """Competition -> the day when it ended, from a CSV file with the columns id and ended. Raises UsageError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {row["id"]: date.fromisoformat(row["ended"].strip()) for row in csv.DictReader(file)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"{path} needs the columns id and ended, such as 2019-07-08: {error}") from None


def _ended(id: str) -> date | None:
    from mle_ext_familiarity.kaggle_page import fetch_page
    from mlecore import competition

    return fetch_page(competition(id).facts).ended


def _best(leaderboard: Path) -> float | None:
    """The first score, which is the best."""
    with leaderboard.open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file), None)
    return None if row is None else float(row["score"])
