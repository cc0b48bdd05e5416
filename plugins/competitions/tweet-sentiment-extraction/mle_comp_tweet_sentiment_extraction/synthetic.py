"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, split_positions, write_csv

_TELLING = {
    "positive": ["love", "happy birthday", "so *nice*", "Thanks"],
    "negative": ["sucks!", "I hate it", "sad", "sooo tired"],
}
_PLAIN = ["the", "The", "my", "day", "day", "http://x.y/z", 'called "home"', "`quoted`", "work,", "again", "café", "☕"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """A word or two carry the sentiment, which stays whole when it is neutral; some answers begin inside a word."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(40, round(1500 * size))
    rows: list[tuple[str | None, str | None, str]] = []
    for number in range(count):
        words = [_PLAIN[i] for i in rng.randint(0, len(_PLAIN), rng.randint(1, 9))]
        sentiment = ["positive", "negative", "neutral"][rng.randint(3)]
        start = " " if number % 3 == 0 else ""
        if sentiment == "neutral":
            text = answer = " ".join(words)
        else:
            answer = _TELLING[sentiment][rng.randint(4)]
            words.insert(rng.randint(len(words) + 1), answer)
            text = " ".join(words)
            answer = answer[1:] if number % 17 == 0 else answer
        rows.append((start + text, answer, sentiment))
    # the row without a text is one for training: in the test part it would make the sample submission invalid
    rows[split_positions(count, 0.1)[0][0]] = (None, None, "neutral")
    table = pd.DataFrame(rows, columns=["text", "selected_text", "sentiment"])
    table.insert(0, "textID", hex_ids(count, 10, seed=seed))
    write_csv(table, raw / "train.csv")
    test = table.head(5)
    write_csv(test.drop(columns="selected_text"), raw / "test.csv")
    write_csv(test[["textID"]].assign(selected_text=""), raw / "sample_submission.csv")
