"""Questions from facts: right answers, strict reading, chance levels by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner
from mle_ext_familiarity import command
from mle_ext_familiarity.calls import Calls, Endpoint
from mle_ext_familiarity.questions import measure, near, number, questions, read

from mlecore.plugins.competitions import all_competitions, competition

ID = "spaceship-titanic"
TRUE = {"columns": "passenger id, TRANSPORTED", "rows": "8,693"}


@pytest.fixture(scope="module")
def facts():
    return competition(ID).facts


@pytest.fixture(scope="module")
def everyone():
    return [found.facts for found in all_competitions()]


def knowing(facts):
    """What a model replies that knows everything."""

    def reply(question: str) -> str:
        if "metric" in question:
            letter = re.search(rf"^([A-D])\) {re.escape(facts.metric)}$", question, re.MULTILINE)[1]
            return f"I think so.\n**Answer: {letter})**"
        if "columns" in question:
            return f"Answer: {TRUE['columns']}"
        if "rows" in question:
            return f"Answer: {TRUE['rows']}"
        if "winning" in question:
            return "Answer: 0.9"
        medal = next(medal for medal in ("gold", "silver", "bronze") if medal in question)
        return f"Answer: {getattr(facts.thresholds, medal)}"

    return reply


def test_a_model_that_knows_everything_is_right_throughout(server, facts, everyone) -> None:
    server.reply = knowing(facts)
    found = measure(Calls(Endpoint(url=server.url, model="m")), facts, everyone, best=0.899)
    assert (found.value, found.count, found.unreadable) == (1.0, 7, 0)
    assert found.p is not None and found.p < 1e-3 and found.low == pytest.approx(0.6457, abs=1e-4)


def test_a_model_that_knows_nothing_is_not(server, facts, everyone) -> None:
    found = measure(Calls(Endpoint(url=server.url, model="m")), facts, everyone)
    assert (found.value, found.count, found.unreadable, found.p) == (0.0, 6, 6, 1.0)


def test_chance_is_that_of_a_letter_or_of_another_competitions_fact(facts) -> None:
    gold = facts.thresholds.gold
    others = [
        evolve(facts, id=f"x{n}", metric=f"m{n}", thresholds=evolve(facts.thresholds, gold=gold * factor))
        for n, factor in enumerate((1.005, 1.02, 0.9, 0.991))
    ]
    found = {question.about: question for question in questions(facts, others)}
    assert found["metric"].chance == 1 / 4 and found["gold threshold"].chance == 2 / 4
    assert found["columns"].chance == found["rows"].chance == 1.0
    assert list(found) == ["metric", "columns", "gold threshold", "silver threshold", "bronze threshold", "rows"]


def test_only_the_last_line_in_the_right_form_counts(facts, everyone) -> None:
    found = {question.about: question for question in questions(facts, everyone)}
    rows = found["rows"]
    cases = {"Answer: 8693": True, "answer: **8,700**": True, "Answer: 9000": False, "Answer: about 8693": None}
    cases |= {"8693": None, "Answer: 8693\nor 5": None, "": None, "Answer: 7823": True}
    assert {said: read(said, rows) for said in cases} == cases
    assert read("Answer: E", found["metric"]) is None and read("Answer: accuracy", found["metric"]) is None
    assert read("Answer: Transported", found["columns"]) is False


def test_numbers_are_read_as_written_and_compared_within_one_percent() -> None:
    cases = {"1,234.5": 1234.5, "-.5": -0.5, "1e-3": 0.001, "98.7%": 0.987, "12,34": None, "nan": None, "1 2": None}
    assert {said: number(said) for said in cases} == pytest.approx(cases, nan_ok=True)
    assert near(101, 100) and near(-99, -100) and not near(101.1, 100) and not near(0.1, 0)


def test_the_command_asks_an_endpoint_without_log_probabilities(server, facts, tmp_path: Path) -> None:
    server.reply = knowing(facts)
    asked = ["--model", "m", "--endpoint", server.url, "--measure", "questions", "--competition", ID]
    done = CliRunner().invoke(command, [*asked, "--runs", str(tmp_path / "runs"), "--json"], catch_exceptions=False)
    (found,) = json.loads(done.stdout)["competitions"]
    assert (found["competition"], found["value"], found["count"]) == (ID, 1.0, 6)
    assert {path for path, _, _ in server.asked} == {"/v1/chat/completions"}
