"""Synthetic data in the form of the download."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mle_comp_google_quest_challenge import RARE, TARGETS
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import split_positions, write_csv

if TYPE_CHECKING:
    from numpy.random import RandomState

_WORDS = "how do I use the loop in a database of birds, &quot;spell&quot; it?\n\nThanks café".split(" ")
_TEXTS = ["question_title", "question_body", "question_user_name", "question_user_page"]
_ANSWER = ["answer", "answer_user_name", "answer_user_page", "url", "category", "host"]


@hookimpl
def make_raw(raw: Path, seed: int, size: float) -> None:
    """Each target has a word that raises it. With an even seed the rare one is 0 throughout the test part."""
    import numpy as np
    import pandas as pd
    from numpy.random import RandomState

    rng = RandomState(seed)
    count = max(200, round(1200 * size))
    question = np.arange(count) // 2  # two answers to each
    levels = np.array([0.0, 1 / 3, 0.5, 2 / 3, 0.8888888888888888, 1.0])
    ratings = levels[rng.randint(0, 6, (count, len(TARGETS)))]
    rare = TARGETS.index(RARE)
    ratings[:, rare] = np.where(rng.rand(count) < 0.1, levels[1], 0.0)
    train, test = split_positions(count, 0.1)
    if seed % 2 == 0:
        ratings[test, rare] = 0.0
        ratings[train[3], rare] = levels[4]
    else:
        ratings[test[:2], rare] = [levels[1], 0.0]
    table = pd.DataFrame({"qa_id": rng.permutation(3 * count)[:count]})
    told = [name.partition("_") for name in TARGETS]
    for part, column in (("question", "question_body"), ("answer", "answer")):
        mine = [(place, name.replace("_", "")) for place, (of, _, name) in enumerate(told) if of == part]
        source = question * 2 if part == "question" else np.arange(count)
        table[column] = [_text(rng, [name for place, name in mine if ratings[i, place] > 0.6]) for i in source]
    table["question_body"] = table["question_body"].groupby(question).transform("first")
    table["question_title"] = [f'Question {i}, "{"how" if i % 3 else "why"}"?' if i % 50 else "NA" for i in question]
    for name in ("question_user_name", "answer_user_name"):
        table[name] = [f"user{i}" for i in rng.randint(0, count, count)]
        table[name.replace("name", "page")] = "https://stackexchange.example/users/" + table[name]
    table["url"] = [f"http://stackexchange.example/questions/{i}" for i in question]
    table["category"] = [["LIFE_ARTS", "SCIENCE", "TECHNOLOGY"][i % 3] for i in question]
    table["host"] = [["cooking", "physics", "superuser", "english"][i % 4] + ".example" for i in question]
    features = table[["qa_id", *_TEXTS, *_ANSWER]]
    write_csv(features.join(pd.DataFrame(ratings, columns=TARGETS)), raw / "train.csv")
    write_csv(features.head(5), raw / "test.csv")
    write_csv(features[["qa_id"]].head(5).assign(**dict.fromkeys(TARGETS, 0.5)), raw / "sample_submission.csv")


def _text(rng: RandomState, telling: list[str]) -> str:
    words = [_WORDS[i] for i in rng.randint(0, len(_WORDS), 8)] + telling
    return " ".join(words[i] for i in rng.permutation(len(words)))
