"""Does a model know the answers of the test part by heart? It is given ids, no data, and asked for the labels."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from mle_ext_report.statistics import wilson

from mle_ext_familiarity.calls import Calls
from mle_ext_familiarity.measured import Measured
from mlecore.errors import UsageError
from mlecore.model.competition import Competition

_MOST_LABELS = 50
_AT_ONCE = 10  # ids in one call
_PERMUTATIONS = 9999
_ASK = """From memory, about the Kaggle competition "{title}" ({id}): give the true label of each of these rows of its
data, by their ids alone. Labels are: {labels}.

{rows}

Answer with one line a row and nothing else: <id>: <label>"""


def measure(calls: Calls, found: Competition, private: Path, rows: int, seed: int = 0) -> Measured:
    """How many labels of ``rows`` random test rows the model knows.

    ``base`` is the share of the most frequent label among them; the p-value that of at least as many right answers
    where the model's labels are shuffled among the rows (9,999 times), so that it holds whatever labels it prefers.
    Raises UsageError for a competition without labels; EndpointError, OutOfCalls.
    """
    truth = labels_of(found, private)
    rng = random.Random(f"{seed}\0{found.id}")
    chosen = rng.sample(sorted(truth), min(rows, len(truth)))
    names = sorted(set(truth.values()))
    said: list[str | None] = []
    for batch in _batches(chosen):
        said += parse(calls.reply(question(found, batch, names)), batch, names)
    actual = [truth[id] for id in chosen]
    right = sum(label == one for label, one in zip(said, actual, strict=True))
    low, high = wilson(right / len(chosen), len(chosen))
    return Measured(
        competition=found.id,
        measure="answers",
        value=right / len(chosen),
        base=Counter(actual).most_common(1)[0][1] / len(chosen),
        count=len(chosen),
        unreadable=said.count(None),
        low=low,
        high=high,
        p=by_chance(said, actual, right, seed),
    )


def labels_of(found: Competition, private: Path) -> dict[str, str]:
    """Id -> label, from the perfect submission: its one column, or several that are one-hot. Raises UsageError."""
    id = found.facts.submission.id
    frame = found.perfect(private)
    columns = [name for name in frame.columns if name != id]
    if id is None or id not in frame.columns or not frame[id].is_unique or not columns:
        raise UsageError(f"{found.id}: its rows have no ids to ask for", fix="Leave it out.")
    if len(columns) == 1:
        values = [_plain(value) for value in frame[columns[0]]]
    else:
        if not frame[columns].isin([0, 1]).all(axis=None) or not (frame[columns].sum(axis=1) == 1).all():
            raise UsageError(f"{found.id}: its rows have no single label", fix="Leave it out.")
        values = frame[columns].idxmax(axis=1).tolist()
    if not 1 < len(set(values)) <= _MOST_LABELS:
        raise UsageError(f"{found.id}: its answers are not 2 to {_MOST_LABELS} labels", fix="Leave it out.")
    return dict(zip(map(str, frame[id]), values, strict=True))


def question(found: Competition, ids: Sequence[str], labels: Sequence[str]) -> str:
    """What is sent; no data."""
    return _ASK.format(title=found.facts.title, id=found.id, labels=", ".join(labels), rows="\n".join(ids))


def parse(reply: str, ids: Sequence[str], labels: Sequence[str]) -> list[str | None]:
    """A label for each id; None where it has none, two different ones, or one that does not exist."""
    said: dict[str, set[str]] = {id: set() for id in ids}
    known = {label.casefold(): label for label in labels}
    for line in reply.splitlines():
        id, _, label = line.strip().rpartition(":")
        if (id := id.strip()) in said:
            said[id].add(known.get(label.strip().casefold(), ""))
    return [next(iter(found)) or None if len(found) == 1 else None for found in said.values()]


def by_chance(said: Sequence[str | None], actual: Sequence[str], right: int, seed: int) -> float:
    """One-sided, by permutation."""
    import numpy as np

    numbers = {label: number for number, label in enumerate(dict.fromkeys(actual))}
    truth = np.array([numbers[label] for label in actual])
    told = np.array([-1 if label is None else numbers.get(label, -1) for label in said])
    rng = np.random.default_rng(seed)
    reached = sum(int(np.sum(rng.permutation(told) == truth)) >= right for _ in range(_PERMUTATIONS))
    return (reached + 1) / (_PERMUTATIONS + 1)


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))


def _plain(value: object) -> str:
    text = str(value)
    return re.sub(r"\.0$", "", text)
