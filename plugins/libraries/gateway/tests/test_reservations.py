"""Budgets under many calls at once: each reserves what it may cost while it is under way."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mlecore_gateway.asking import LONGEST_ANSWER, read_request
from mlecore_gateway.budgets import Budget
from mlecore_gateway.calls import Tokens
from mlecore_gateway.ledger import Spent
from mlecore_gateway.prices import Prices
from mlecore_gateway.reservations import Reservations, UsedUp
from mlecore_gateway.routes import Route
from mlecore_gateway.settings import Price
from mlecore_testing.models import Answer, Usage

from . import conftest

HELLO = conftest.CHAT["messages"]
CHAT = {**conftest.CHAT, "max_tokens": 40}
USAGE = Usage(input=60, output=40)
SLOW = Answer(text="x", usage=USAGE, delay=0.05, times=0)
PRICES = {"scripted": Price(input=10, output=100)}  # 4600 millionths of a dollar a call


def ask_at_once(front, count, body=CHAT):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(lambda _: front.ask(body=body)[0], range(count)))


@pytest.mark.parametrize(("budget", "queue"), [("500tok", None), ("0.023usd", 1), ("5calls", None), ("5calls", 1)])
def test_calls_at_once_keep_to_the_budget(gateway, tmp_path, budget, queue):
    """Twenty at once, side by side or strictly one after another through the queue: as many as were paid for."""
    shared = {} if queue is None else {"max_calls": queue, "slots": str(tmp_path / "slots")}
    front = gateway(SLOW, budgets=(budget,), prices=PRICES, **shared)
    statuses = ask_at_once(front, 20)
    assert sorted(statuses) == [200] * 5 + [429] * 15
    assert front.model.served.calls == 5


def test_without_a_limit_of_their_own_calls_pass_one_by_one_at_the_end(gateway):
    """Such a call may cost more than is left; alone it passes. The overshoot is one call's."""
    front = gateway(SLOW, budgets=("450tok",))
    body = {"model": "scripted", "messages": HELLO}
    assert sorted(ask_at_once(front, 10, body)) == [200] * 5 + [429] * 5
    assert front.model.served.most_at_once == 1


def test_a_call_waits_for_reservations_and_is_not_told_that_the_budget_is_used_up(gateway):
    front = gateway(Answer(text="x", usage=USAGE, delay=1.0, times=0), budgets=("300tok",))
    large = {**CHAT, "max_tokens": 150}
    assert ask_at_once(front, 2, large) == [200, 200]
    assert front.model.served.most_at_once == 1
    assert max(call.waited for call in front.calls()) > 0


def test_asked_again_before_a_retry(gateway):
    """What others spent while a call waited for the rate limit is gone."""
    answers = (
        Answer(status=429, retry_after=2, when="first"),
        Answer(text="x", usage=Usage(input=60, output=400), times=0),
    )
    front = gateway(*answers, budgets=("300tok",), retries=3)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(front.ask, body={**CHAT, "messages": [{"role": "user", "content": "first"}]})
        while front.model.served.calls < 1:
            time.sleep(0.01)
        assert front.ask(body={**CHAT, "max_tokens": 10})[0] == 200, "it spends more than it said"
        status, _, body = first.result()
    assert status == 429 and b"budget of 300tok is used up" in body
    assert front.model.served.calls == 2


def test_a_hung_up_call_gives_its_reservation_back(gateway):
    front = gateway(Answer(text="word " * 50, usage=USAGE, pause=0.005, times=0), budgets=("500tok",))
    link = http.client.HTTPConnection("127.0.0.1", front.port, timeout=60)
    link.request(
        "POST",
        "/v1/chat/completions",
        json.dumps({**CHAT, "stream": True, "max_tokens": 300}),
        {"Authorization": "Bearer mlecore-run-token"},
    )
    link.getresponse().read1(10)
    link.close()
    assert front.ask()[0] == 200
    assert [call.tokens.output for call in front.calls()] == [40, 40]
    assert front.calls()[0].reason == "the client hung up"


CHAT_ROUTE = Route("chat", spends=True)


def reserve(body, route=CHAT_ROUTE):
    asked = read_request(route, "POST", json.dumps({"model": "m", **body}).encode(), True, False)
    return asked.reserve


def test_what_a_call_may_cost():
    asked = {"messages": HELLO}
    assert reserve({**asked, "max_tokens": 7}).input == len(json.dumps({"model": "m", **asked, "max_tokens": 7}))
    assert reserve(asked).output == LONGEST_ANSWER
    assert reserve({**asked, "max_completion_tokens": 7, "n": 3}).output == 21
    assert reserve({**asked, "max_tokens": 5, "max_completion_tokens": 7}).output == 7
    assert reserve({"input": "x", "max_output_tokens": 9}, Route("responses", spends=True)).output == 9
    gemini = {"contents": [], "generationConfig": {"maxOutputTokens": 11, "candidateCount": 2}}
    assert reserve(gemini, Route("gemini", spends=True)).output == 22
    assert reserve({"prompt": ["a", "b"], "max_tokens": 5}, Route("completions", spends=True)).output == 10
    assert reserve({"input": "x"}, Route("embeddings", spends=True)).output == 0
    assert reserve({"messages": HELLO}, Route("messages", spends=False)) == Tokens()


def test_the_dearest_model_and_a_written_cache_are_reserved():
    prices = Prices(
        "http://localhost/v1", {"a": Price(input=1, output=1, cache_write=2), "b": Price(input=1, output=9)}
    )
    assert prices.highest(("a",), Tokens(input=1_000_000)) == pytest.approx(2)
    assert prices.highest(("a", "b"), Tokens(output=1_000_000)) == pytest.approx(9)
    assert prices.highest(("unknown",), Tokens(output=1_000_000)) == 0


def test_first_come_first_served():
    async def play():
        spent = Spent()
        held = Reservations([Budget.parse("100tok")], spent)
        calls = [Spent(tokens=tokens, calls=1) for tokens in (60, 90, 10)]
        order = []

        async def one(call):
            await held.hold(call)
            order.append(call.tokens)

        await one(calls[0])
        waiting = [asyncio.create_task(one(call)) for call in calls[1:]]
        await asyncio.sleep(0.01)
        assert order == [60], "the small one waits behind the large one, which would wait for ever otherwise"
        spent.tokens += 5
        held.release(calls[0])
        await asyncio.sleep(0.01)
        assert order == [60, 90]
        spent.tokens += 95
        held.release(calls[1])
        with pytest.raises(UsedUp, match="100tok"):
            await waiting[1]

    asyncio.run(play())
