"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore_toolkit import hex_ids, split_positions, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState

_WORDS = {
    "hindi": 'नदी पर्वत राजधानी वर्ष शहर भारत राजा पुस्तक, युद्ध। जन्म (१९४७) "गंगा" NASA में की था'.split(),
    "tamil": "நதி மலை தலைநகர் ஆண்டு நகரம் இந்தியா அரசர் புத்தகம், போர். பிறப்பு (1947) 'காவிரி' ISRO இல் என்ற".split(),
}
_ASKED = {"hindi": "{} के बाद क्या आता है?", "tamil": "{} பிறகு என்ன வருகிறது?"}


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """The answer is the one to three words after the one that the question names."""
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(30, round(300 * size))
    rows: list[tuple[str, str, str, int, str]] = []
    for number in range(count):
        language = ["hindi", "tamil"][rng.randint(2)]
        if rows and number % 4 == 3:  # another question about the article before
            rows.append(_question(rng, rows[-1][0], rows[-1][-1]))
        else:
            rows.append(_question(rng, _article(rng, language), language))
    table = pd.DataFrame(rows, columns=["context", "question", "answer_text", "answer_start", "language"])
    table.insert(0, "id", hex_ids(count, 9, seed=seed))
    train, test = split_positions(count, 0.1)
    for place, answer in (
        (train[0], "NA"),
        (test[0], "NA"),
        (train[1], "1947"),
        (test[1], "1947"),
    ):  # NA reads as missing
        start = len(table.loc[place, "context"]) + 1
        table.loc[place, ["context", "answer_text", "answer_start"]] = [
            f"{table.loc[place, 'context']} {answer}",
            answer,
            start,
        ]
    write_csv(table, raw / "train.csv")
    visible = table.head(5)
    write_csv(visible[["id", "context", "question", "language"]], raw / "test.csv")
    write_csv(visible[["id"]].assign(PredictionString=""), raw / "sample_submission.csv")


def _article(rng: RandomState, language: str) -> str:
    words = [_WORDS[language][i] for i in rng.permutation(len(_WORDS[language]))]
    cut = rng.randint(1, len(words) - 3)
    return "\n".join([" ".join(words[:cut]), " ".join(words[cut:]), "", f'"{words[0]}, {words[1]}"'])


def _question(rng: RandomState, context: str, language: str) -> tuple[str, str, str, int, str]:
    line = context.split("\n")[1].split()
    place = rng.randint(len(line) - 2)
    answer = " ".join(line[place + 1 : place + 2 + rng.randint(3)])
    return context, _ASKED[language].format(line[place]), answer, context.index(answer), language
