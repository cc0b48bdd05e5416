"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_detecting_insults_in_social_commentary import COLUMNS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import write_csv

if TYPE_CHECKING:
    from pandas import DataFrame


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    import pandas as pd

    table = _comments(max(80, round(2000 * size)), seed)
    cut = round(0.6 * len(table))
    train, test = table[:cut], table[cut:].assign(Usage="PublicTest")
    test.loc[test.index[len(test) // 2 :], "Usage"] = "PrivateTest"
    twice = test.tail(1)  # one comment occurs twice, with the other label
    test = pd.concat([test, twice.assign(Insult=1 - twice["Insult"], Usage="PublicTest")])
    write_csv(train, raw / "train.csv")
    write_csv(test, raw / "test_with_solutions.csv")


def _comments(count: int, seed: int) -> DataFrame:
    """Distinct comments, each in quotes of its own; what addresses the reader with a rude word is an insult."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    people, nouns = ["you", "you all", "the mayor", "my team"], ["fool", "clown", "genius", "legend"]
    tails = ["\\\\n\\\\nReally.", " they said ", ', said "Bob", and left', " caf\\\\xe9", "", "?!", " "]
    rows = []
    for number in range(count):
        person, noun = rng.randint(len(people)), rng.randint(len(nouns))
        insult = person < 2 and noun < 2
        comment = f"{people[person]}, what a {nouns[noun]} in thread {number}{tails[rng.randint(len(tails))]}"
        date = f"2012{rng.randint(1, 13):02d}{rng.randint(1, 29):02d}{rng.randint(24):02d}{rng.randint(60):02d}26Z"
        rows.append(
            (int(insult) if rng.rand() > 0.05 else rng.randint(2), date if rng.rand() > 0.2 else "", f'"{comment}"')
        )
    return pd.DataFrame(rows, columns=COLUMNS)
