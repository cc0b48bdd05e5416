"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mlecore.hookspecs import hookimpl
from mlecore.prepare import hex_ids, split_positions, write_csv

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
    rows = [_row(rng, ["hindi", "tamil"][rng.randint(2)]) for _ in range(count)]
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


def _row(rng: RandomState, language: str) -> tuple[str, str, str, int, str]:
    words = [_WORDS[language][i] for i in rng.permutation(len(_WORDS[language]))]
    place = rng.randint(len(words) - 3)
    answer = " ".join(words[place + 1 : place + 2 + rng.randint(3)])
    lines = [" ".join(words[:place]), " ".join(words[place:]), "", f'"{words[0]}, {words[1]}"']
    context = "\n".join(lines)
    return context, _ASKED[language].format(words[place]), answer, context.index(answer), language
