"""Recall of answers: a model that has memorised the test part shows, and one that guesses does not."""

from __future__ import annotations

import random
import re

import pandas as pd
import pytest
from mle_ext_familiarity.answers import by_chance, labels_of, measure, parse
from mle_ext_familiarity.calls import Calls, Endpoint

from mlecore import competition
from mlecore.errors import UsageError

LABELS = ("True", "False")


@pytest.fixture
def found(monkeypatch):
    """200 answers of a competition, as its perfect submission has them."""
    rng = random.Random(3)
    frame = pd.DataFrame(
        {
            "PassengerId": [f"{n:04d}_01" for n in range(200)],
            "Transported": [rng.random() < 0.5 for _ in range(200)],
        }
    )
    target = competition("spaceship-titanic")
    monkeypatch.setattr(type(target), "perfect", lambda self, private: frame)
    return target, {row.PassengerId: str(row.Transported) for row in frame.itertuples()}


def replying(known):
    def reply(question: str) -> str:
        ids = re.findall(r"^\d{4}_01$", question, re.MULTILINE)
        return "\n".join(f"{id}: {known(id)}" for id in ids)

    return reply


def test_a_memorised_test_part_shows(server, found, tmp_path) -> None:
    target, truth = found
    server.reply = replying(lambda id: truth[id] if int(id[:4]) % 5 else "False")
    result = measure(Calls(Endpoint(url=server.url, model="m")), target, tmp_path, 60)
    assert result.count == 60 and len(server.asked) == 6
    asked = [id for _, body, _ in server.asked for id in re.findall(r"\d{4}_01", body["messages"][0]["content"])]
    right = sum(truth[id] == (truth[id] if int(id[:4]) % 5 else "False") for id in asked)
    share = max(sum(truth[id] == label for id in asked) for label in LABELS) / 60
    assert (result.value, result.base) == (right / 60, share)
    assert result.p == pytest.approx(1e-4) and result.low is not None and result.low > result.base


def test_a_guessing_model_and_one_that_says_always_the_same_do_not(server, found, tmp_path) -> None:
    target, _ = found
    for known in (lambda id: "True", lambda id: random.Random(f"{id} again").choice(LABELS)):
        server.reply = replying(known)
        result = measure(Calls(Endpoint(url=server.url, model=str(known))), target, tmp_path, 100)
        assert result.p is not None and result.p > 0.05


def test_no_data_are_sent(server, found, tmp_path) -> None:
    measure(Calls(Endpoint(url=server.url, model="m")), found[0], tmp_path, 10)
    ((_, body, _),) = server.asked
    lines = body["messages"][0]["content"].split("\n\n")[1].splitlines()
    assert len(lines) == 10 and all(re.fullmatch(r"\d{4}_01", line) for line in lines)


def test_answers_are_read_strictly() -> None:
    said = "a: True\nb : false\nc: maybe\nd: True\nd: False\nmore: True\n e: TRUE \nf True"
    assert parse(said, list("abcdefg"), LABELS) == ["True", "False", None, None, "True", None, None]
    assert parse("2024:01: True", ["2024:01"], LABELS) == ["True"]


def test_chance_counts_permutations_by_hand() -> None:
    said, actual = ["a", "b"], ["a", "b"]
    assert by_chance(said, actual, 2, 0) == pytest.approx(0.5, abs=0.02)
    assert by_chance(["a", "a"], actual, 1, 0) == 1.0
    assert by_chance([None, None], actual, 0, 0) == 1.0


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (pd.DataFrame({"PassengerId": ["a", "a"], "x": [0, 1]}), "no ids to ask for"),
        (pd.DataFrame({"PassengerId": ["a", "b"], "x": [0.5, 1], "y": [0.5, 0]}), "no single label"),
        (pd.DataFrame({"PassengerId": range(60), "x": [n / 7 for n in range(60)]}), "not 2 to 50 labels"),
    ],
)
def test_what_has_no_labels_is_left_out(monkeypatch, tmp_path, frame, why) -> None:
    target = competition("spaceship-titanic")
    monkeypatch.setattr(type(target), "perfect", lambda self, private: frame)
    with pytest.raises(UsageError, match=why):
        labels_of(target, tmp_path)


def test_one_hot_columns_are_one_label(monkeypatch, tmp_path) -> None:
    target = competition("spaceship-titanic")
    frame = pd.DataFrame({"PassengerId": ["p", "q"], "a": [0, 1], "b": [1, 0]})
    monkeypatch.setattr(type(target), "perfect", lambda self, private: frame)
    assert labels_of(target, tmp_path) == {"p": "b", "q": "a"}
