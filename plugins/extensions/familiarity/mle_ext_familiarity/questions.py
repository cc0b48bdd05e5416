"""A recall test for endpoints without log-probabilities: questions from a competition's facts, graded exactly."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from attrs import frozen
from mle_ext_report.statistics import wilson

from mle_ext_familiarity.calls import Calls
from mle_ext_familiarity.measured import Measured, at_least
from mlecore.model.facts import Facts

TOLERANCE = 0.01  # of the true number
_LETTERS = "ABCD"
_ANSWER = re.compile(r"^\W*answer\W*:[\s*]*(.+?)[\s*.]*$", re.IGNORECASE)
_ASK = 'About the Kaggle competition "{title}" ({id}), from memory:\n\n{question}\n\nEnd with one line: Answer: {form}'


@frozen(kw_only=True)
class Question:
    """``right`` judges the text after `Answer:`; None: it cannot be read. ``chance``: that a guess is right."""

    about: str
    text: str
    right: Callable[[str], bool | None]
    chance: float


def measure(calls: Calls, facts: Facts, others: Sequence[Facts], best: float | None = None) -> Measured:
    """``others``: competitions that wrong answers and chance levels come from; ``best``: the winning score, if known.

    The p-value is that of so many right answers or more by guessing. Raises EndpointError, OutOfCalls.
    """
    asked = list(questions(facts, others, best))
    verdicts = [read(calls.reply(question.text), question) for question in asked]
    right = sum(verdict is True for verdict in verdicts)
    low, high = wilson(right / len(asked), len(asked))
    return Measured(
        competition=facts.id,
        measure="questions",
        value=right / len(asked),
        base=fmean(question.chance for question in asked),
        count=len(asked),
        unreadable=sum(verdict is None for verdict in verdicts),
        low=low,
        high=high,
        p=at_least(right, [question.chance for question in asked]),
    )


def questions(facts: Facts, others: Sequence[Facts], best: float | None = None) -> Iterator[Question]:
    """About the metric, columns, winning score, medal thresholds and number of rows, as far as the facts have them."""
    others = [other for other in others if other.id != facts.id]
    yield _metric(facts, others)
    if columns := _columns(facts):
        same = [_columns(other) == columns for other in others]
        yield Question(
            about="columns",
            text=_text(facts, "What are the columns of its submission file?", "all names, separated by commas"),
            right=lambda said: {_plain(name) for name in said.split(",")} == columns,
            chance=fmean(same) if same else 0.0,
        )
    for medal in ("gold", "silver", "bronze"):
        if facts.thresholds is not None:
            truth = float(getattr(facts.thresholds, medal))
            known = [float(getattr(other.thresholds, medal)) for other in others if other.thresholds is not None]
            words = f"Which score on the private leaderboard was needed for a {medal} medal?"
            yield _number(facts, f"{medal} threshold", words, [truth], known)
    if best is not None:
        known = [other.thresholds.gold for other in others if other.thresholds is not None]
        words = "What was the winning score on the private leaderboard?"
        yield _number(facts, "winning score", words, [best], known)
    if rows := _rows(facts):
        known = [count for other in others for count in _rows(other)[-1:]]
        yield _number(facts, "rows", "How many rows does its training table have, as published?", rows, known)


def read(reply: str, question: Question) -> bool | None:
    """Only the last line counts, and only in the form that was asked for."""
    lines = reply.strip().splitlines()
    found = _ANSWER.match(lines[-1].strip()) if lines else None
    return question.right(found[1]) if found else None


def number(said: str) -> float | None:
    """`1,234.5`, `98.7%` as 0.987; None for anything else."""
    plain = said.strip().replace("\u2212", "-")
    if not re.fullmatch(r"[-+]?(\d{1,3}(,\d{3})+|\d+|(?=\.))(\.\d+)?([eE][-+]?\d+)?\s*%?", plain):
        return None
    value = float(plain.rstrip("% ").replace(",", ""))
    return value / 100 if plain.endswith("%") else value


def near(value: float, truth: float) -> bool:
    """Within one percent of the truth."""
    return math.isfinite(value) and abs(value - truth) <= TOLERANCE * abs(truth)


def _number(facts: Facts, about: str, words: str, truths: Sequence[float], known: Sequence[float]) -> Question:
    """A guess is the number of another competition."""

    def right(said: str) -> bool | None:
        value = number(said)
        return None if value is None else any(near(value, truth) for truth in truths)

    hits = [any(near(value, truth) for truth in truths) for value in known]
    return Question(
        about=about, text=_text(facts, words, "the number"), right=right, chance=fmean(hits) if hits else 0.0
    )


def _metric(facts: Facts, others: Sequence[Facts]) -> Question:
    rng = random.Random(facts.id)
    names = sorted({other.metric for other in others} - {facts.metric})
    options = [*rng.sample(names, min(3, len(names))), facts.metric]
    rng.shuffle(options)
    listed = "\n".join(f"{letter}) {name}" for letter, name in zip(_LETTERS, options, strict=False))
    letter = _LETTERS[options.index(facts.metric)]

    def right(said: str) -> bool | None:
        found = re.fullmatch(r"\(?([A-Da-d])\)?(\W.*)?", said.strip())
        return None if found is None else found[1].upper() == letter

    words = f"By which metric were submissions scored?\n{listed}"
    return Question(about="metric", text=_text(facts, words, "the letter"), right=right, chance=1 / len(options))


def _text(facts: Facts, question: str, form: str) -> str:
    return _ASK.format(title=facts.title, id=facts.id, question=question, form=f"<{form}>")


def _columns(facts: Facts) -> set[str]:
    """Empty where the facts do not list them."""
    names = {*facts.submission.columns, *filter(None, [facts.submission.id])}
    return set() if "*" in names else {_plain(name) for name in names}


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _rows(facts: Facts) -> list[float]:
    """Rows of `train.csv`, and with the test part added, as most test parts were cut off Kaggle's training table."""
    train = facts.expect.get("public/train.csv", {}).get("rows")
    test = facts.expect.get(facts.answers, {}).get("rows", 0)
    return [] if train is None else list(dict.fromkeys([float(train), float(train + test)]))
