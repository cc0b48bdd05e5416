"""Calls: the key goes to the endpoint only, what was answered is not asked again, and the budget holds."""

from __future__ import annotations

import pytest
from mle_ext_familiarity.calls import Calls, Endpoint, OutOfCalls

from mlecore.errors import EndpointError


@pytest.fixture
def endpoint(server):
    return Endpoint(url=server.url, model="m", key="secret-key")


def test_a_killed_probe_goes_on_where_it_stopped(server, endpoint, tmp_path) -> None:
    journal = tmp_path / "journal.jsonl"
    server.reply = lambda question: f"reply to {question}"
    first = Calls(endpoint, journal)
    assert [first.reply(question) for question in "ab"] == ["reply to a", "reply to b"]
    with journal.open("a") as file:
        file.write('{"call": "torn')  # a kill in the middle of a line
    again = Calls(endpoint, journal)
    assert [again.reply(question) for question in "abc"] == ["reply to a", "reply to b", "reply to c"]
    assert (again.made, again.kept, again.input_tokens, again.output_tokens) == (1, 2, 21, 6)
    assert len(server.asked) == 3
    last = Calls(endpoint, journal)
    assert [last.reply(question) for question in "abc"][2] == "reply to c" and last.made == 0
    assert "secret-key" not in journal.read_text() and "secret-key" not in repr(last)


def test_a_budget_holds_and_more_goes_on(server, endpoint, tmp_path) -> None:
    calls = Calls(endpoint, tmp_path / "journal.jsonl", 2)
    for question in "aba":
        calls.reply(question)
    with pytest.raises(OutOfCalls, match="all 2 calls are made"):
        calls.reply("c")
    assert len(server.asked) == 2
    assert Calls(endpoint, tmp_path / "journal.jsonl", 1).reply("c")


def test_a_redirection_does_not_get_the_key(server, endpoint) -> None:
    server.status, server.location = 302, f"{server.url}/elsewhere"
    with pytest.raises(EndpointError, match="answers 302"):
        Calls(endpoint).reply("a")
    assert [path for path, _, _ in server.asked] == ["/v1/chat/completions"]


def test_an_error_that_repeats_the_key_is_shown_without_it(server, endpoint) -> None:
    server.status = 401
    with pytest.raises(EndpointError, match="Bearer <key>") as error:
        Calls(endpoint).reply("a")
    assert "secret-key" not in str(error.value)


def test_an_endpoint_without_log_probabilities_is_named(server, endpoint) -> None:
    with pytest.raises(EndpointError, match="no log-probabilities") as error:
        Calls(endpoint).log_probabilities("some words")
    assert "--measure questions" in str(error.value.fix)
