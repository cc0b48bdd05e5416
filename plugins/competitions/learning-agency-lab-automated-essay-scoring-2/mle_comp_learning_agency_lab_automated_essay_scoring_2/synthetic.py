"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, write_csv

_PLAIN = "the face on mars is a landform and people think that it was good".split()
_RICH = "consequently evidence furthermore geological hypothesis demonstrates nevertheless scientists".split()
_BREAKS = [" ", " ", " ", ", ", "\n", "\n\n", "\xa0", '. "So," he said, ']


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """The higher the score, the longer and richer the essay."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(120, round(1000 * size))
    scores = rng.choice(6, count, p=[0.08, 0.26, 0.32, 0.22, 0.09, 0.03]) + 1
    scores[:6] = [1, 2, 3, 4, 5, 6]
    essays = []
    for score in scores:
        words = [_PLAIN[i] for i in rng.randint(0, len(_PLAIN), 15 + 10 * score + rng.randint(10))]
        words += [_RICH[i] for i in rng.randint(0, len(_RICH), 2 * score)]
        breaks = [_BREAKS[i] for i in rng.randint(0, len(_BREAKS), len(words))]
        essays.append("".join(words[i] + breaks[i] for i in rng.permutation(len(words))))
    ids = hex_ids(count, 7, seed=seed)
    ids[:2] = ["0012345", "000e118"]  # must survive as text
    table = pd.DataFrame({"essay_id": ids, "full_text": essays, "score": scores})
    write_csv(table, raw / "train.csv")
    visible = table.head(3)
    write_csv(visible[["essay_id", "full_text"]], raw / "test.csv")
    write_csv(visible[["essay_id", "score"]].assign(score=3), raw / "sample_submission.csv")
