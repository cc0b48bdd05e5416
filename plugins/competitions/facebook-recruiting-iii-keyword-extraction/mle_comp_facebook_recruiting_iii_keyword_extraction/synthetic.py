"""Synthetic data in the form of the download."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_facebook_recruiting_iii_keyword_extraction import GUESS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import ZipWriter, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState
    from pandas import DataFrame

# sets of tags that go together, each with words that hint at them
TOPICS = {
    "c++ templates": "template std vector compile",
    "c# .net linq": "lambda query enumerable foreach",
    "asp.net-mvc c# razor": "view controller partial model",
    "java android eclipse": "activity intent layout crash",
    "python django": "queryset migration template urls",
    "php mysql sql": "select join escape database",
    "javascript jquery html css ajax": "click selector hover div",
    "ruby-on-rails ruby": "gem migrate scaffold rake",
    "linux bash ssh": "shell grep pipe server",
    "ios objective-c xcode": "view delegate retain iphone",
    "latex": "equation figure bibliography page",
    "calculus integration": "integral limit series converge",
    "null": "pointer zero reference nothing",
}
BODIES = [
    '<p>I have a "{word}" and, well, it fails:</p>\n<pre><code>x = {number};\n</code></pre>\n',
    "<p>How do I use {word}?</p>\r\n\r\n<p>Thanks — naïve, I know.</p>\r\n",
    "<p>{word}, {word}, and {number} more</p>",
    "",
]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """600 questions times ``size``; 10,000 gives as many as there really are."""
    from numpy.random import RandomState

    rng = RandomState(seed)
    _write(raw, "Train", _questions(max(200, round(600 * size)), rng))
    unlabelled = next(_questions(10, rng)).drop(columns="Tags")
    _write(raw, "Test", iter([unlabelled]))
    write_csv(unlabelled[["Id"]].assign(Tags=GUESS), raw / "SampleSubmission.csv", quoting=csv.QUOTE_ALL)


def _write(raw: Path, name: str, pieces: Iterator[DataFrame]) -> None:
    with ZipWriter(raw / f"{name}.zip") as archive, archive.open(f"{name}.csv") as member:
        write_csv(pieces, member, quoting=csv.QUOTE_ALL)


def _questions(count: int, rng: RandomState) -> Iterator[DataFrame]:
    """Titles hint at the topic; some questions have fewer or more tags than their topic, and some come again."""
    import pandas as pd

    topics = list(TOPICS)
    for start in range(0, count, 20_000):
        rows: list[tuple[int, str, str, str]] = []
        for number in range(start + 1, min(count, start + 20_000) + 1):
            if rows and number % 12 == 0:  # a question that was asked before
                rows.append((number, *rows[rng.randint(len(rows))][1:]))
                continue
            topic = topics[rng.randint(len(topics))]
            words, tags = TOPICS[topic].split(), topic.split()
            if rng.rand() < 0.15:
                tags = tags[:1]
            if number % 40 == 7 and len(tags) < 5 and tags != ["null"]:
                tags = [*tags, f"only-{number}"]  # of this question alone
            title = f"{words[rng.randint(4)]} problem, {words[rng.randint(4)]} with {words[rng.randint(4)]} {number}?"
            body = BODIES[rng.randint(len(BODIES))].format(word=words[rng.randint(4)], number=number)
            rows.append((number, "NA" if number % 50 == 9 else title, body, " ".join(tags)))
        yield pd.DataFrame(rows, columns=["Id", "Title", "Body", "Tags"])
