"""What a run may spend, and that its gateway remembers it."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mlecore.runs.measured import spent_in
from mlecore_gateway.budgets import Budget
from mlecore_gateway.calls import Call, Tokens
from mlecore_gateway.ledger import LOG, Ledger, LedgerError, Spent, read_calls
from mlecore_gateway.prices import Prices
from mlecore_gateway.settings import Price, read_settings
from mlecore_testing.models import Answer, Model, Script, Usage, scripted_model

from .conftest import CHAT, KEY, TOKEN, Front

HUNDRED = Answer(text="x", usage=Usage(input=60, output=40, cached=20, reasoning=5), times=0)
# 40 x 10 + 20 x 1 + 40 x 100 = 4420 millionths of a dollar a call
PRICES = {"scripted": Price(input=10, output=100, cached=1)}


@pytest.mark.parametrize(
    ("text", "amount", "unit"), [("0.5 USD", 0.5, "usd"), ("2Mtok", 2e6, "tok"), ("9calls", 9, "calls")]
)
def test_budget_as_people_write_it(text, amount, unit):
    assert Budget.parse(text)[:2] == (amount, unit)


@pytest.mark.parametrize("text", ["", "5", "0usd", "-5usd", "5eur", "5usd calls"])
def test_what_is_no_budget(text):
    with pytest.raises(ValueError, match="is not a budget"):
        Budget.parse(text)


@pytest.mark.parametrize(("budget", "served"), [("3calls", 1), ("350tok", 2), ("0.011usd", 1)])
def test_what_earlier_attempts_spent_is_gone(gateway, budget, served):
    earlier = Spent(usd=0.009, tokens=200, calls=2)
    front = gateway(HUNDRED, budgets=(budget,), prices=PRICES, spent=earlier)
    assert [front.ask()[0] for _ in range(3)] == [200] * served + [429] * (3 - served)


@pytest.mark.parametrize(("budget", "served"), [("3calls", 3), ("250tok", 3), ("0.01usd", 3), ("100tok", 1)])
def test_budget_ends_the_calls(gateway, budget, served):
    front = gateway(HUNDRED, budgets=(budget,), prices=PRICES)
    statuses = [front.ask()[0] for _ in range(5)]
    assert statuses == [200] * served + [429] * (5 - served)
    assert front.model.served.calls == served
    first = front.calls()[0]
    assert first.cost_usd == pytest.approx(4420e-6) and first.priced_by == "the plan"
    _, headers, body = front.ask()
    error = json.loads(body)["error"]
    assert headers["x-should-retry"] == "false" and "Retry-After" not in headers
    assert budget in error["message"] and error["code"] == "insufficient_quota"


def test_clients_do_not_ask_for_ever(gateway):
    import openai

    front = gateway(HUNDRED, budgets=("1calls",))
    client = openai.OpenAI(base_url=f"{front.url}/v1", api_key=TOKEN, max_retries=5)
    client.chat.completions.create(**CHAT)
    with pytest.raises(openai.RateLimitError, match="budget of 1calls is used up"):
        client.chat.completions.create(**CHAT)
    assert len(front.calls()) == 2, "the client did not retry"
    patience = 0
    while True:  # a loop of an agent's own, which waits for the limit to pass
        try:
            client.chat.completions.create(**CHAT)
        except openai.RateLimitError:
            patience += 1
            assert patience < 50
        except openai.PermissionDeniedError:
            break


def test_cost_by_the_published_list():
    tokens = Tokens(input=1_000_000, output=1_000_000)
    cost, source = Prices("https://api.openai.com/v1", {}).cost((None, "gpt-4o"), tokens)
    assert cost == pytest.approx(12.5) and "openai/gpt-4o" in source and "data as of 20" in source
    assert "by the model's name alone" in Prices("http://localhost:1/v1", {}).cost(("gpt-4o",), tokens)[1]
    assert Prices("http://localhost:1/v1", {}).cost(("nobody-knows-it",), tokens) is None


def test_money_without_a_price_is_refused(gateway):
    front = gateway(HUNDRED, budgets=("5usd",))
    status, _, body = front.ask()
    assert status == 403 and b"no price is known for scripted" in body


def test_unknown_usage_counts_as_its_estimate(gateway):
    front = gateway(Answer(text="a" * 400, reports_usage=False, times=0), budgets=("150tok",))
    assert [front.ask()[0] for _ in range(3)] == [200, 429, 429]


@contextlib.contextmanager
def process(folder: Path, model: Model, **settings) -> Iterator[tuple[Front, subprocess.Popen]]:
    """A gateway in a process of its own, which is killed at the end."""
    argv = [sys.executable, "-m", "mlecore_gateway", "--listen", "127.0.0.1:0", "--folder", str(folder)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdin.write(
            json.dumps({"endpoint": model.url, "token": TOKEN, "models": ["scripted"], **settings}).encode()
        )
        child.stdin.close()
        said = child.stderr.readline().decode()
        assert said.startswith("gateway on"), said
        yield Front(int(said.rpartition(":")[2]), folder, model), child
        child.kill()


@pytest.mark.slow
def test_restart_remembers_to_the_token(tmp_path):
    """Also the call that was under way when it was killed, at what it had reserved."""
    slow = Answer(text="x", delay=600, when="slow")
    settings = {"budgets": ["5calls"], "prices": {"scripted": {"input": 10, "output": 100}}}
    with scripted_model(Script(answers=(HUNDRED, slow))) as model:
        with process(tmp_path, model, **settings) as (front, child), ThreadPoolExecutor(1) as pool:
            assert front.ask()[0] == front.ask()[0] == 200
            model._cursor._answers = (slow,)
            pool.submit(front.ask, body={**CHAT, "max_tokens": 700})
            while model.served.calls < 3:
                time.sleep(0.02)
            child.kill()
        assert spent_in([tmp_path / LOG])["calls"] == 3, "the log alone is enough, without another gateway"
        model._cursor._answers = (HUNDRED,)
        with process(tmp_path, model, **settings) as (front, _):
            assert [front.ask()[0] for _ in range(3)] == [200, 200, 429]
            front.calls()
    calls = list(read_calls(tmp_path / LOG))
    assert [call.outcome for call in calls] == ["passed", "passed", "cut", "passed", "passed", "refused"]
    assert calls[2].reason == "the gateway died before the call ended"
    assert (calls[2].usage, calls[2].estimate.output) == ("unknown", 700) and calls[2].cost_usd > 0.07
    assert [call.number for call in calls[:5]] == [1, 2, 3, 4, 5]


def test_key_is_in_no_argument_or_environment(tmp_path):
    with scripted_model(Script(key=KEY)) as model, process(tmp_path, model, key=KEY) as (front, child):
        assert front.ask()[0] == 200
        for name in ("cmdline", "environ"):
            try:
                assert KEY.encode() not in Path(f"/proc/{child.pid}/{name}").read_bytes()
            except PermissionError:  # nobody else of our user may even look
                assert os.geteuid() != 0
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_settings_name_what_is_wrong_and_no_key():
    good = {"endpoint": "http://localhost:1/v1", "token": "t"}
    for wrong, what in (
        ({"endpoint": "localhost:8000"}, "is not a base URL"),
        ({"budgets": ["5eur"]}, "is not a budget"),
        ({"max_calls": 0}, "max_calls"),
        ({"kex": "sk-secret"}, "kex"),
        ({"key": "sk-secret\n"}, "the key must be"),
    ):
        with pytest.raises(ValueError, match=what) as caught:
            read_settings(json.dumps(good | wrong).encode())
        assert "sk-secret" not in str(caught.value)
    assert "sk-secret" not in repr(read_settings(json.dumps(good | {"key": "sk-secret"}).encode()))


def test_damaged_log_costs_one_line(tmp_path, gateway):
    front = gateway(HUNDRED)
    front.ask()
    assert len(front.calls()) == 1
    log = tmp_path / LOG
    log.write_bytes(log.read_bytes() + b'{"torn')
    ledger = Ledger(tmp_path)
    assert (ledger.spent.calls, ledger.spent.tokens) == (1, 100)
    ledger.close()
    assert log.read_bytes().endswith(b'{"torn\n')


def test_a_call_that_cannot_be_logged_does_not_begin(tmp_path):
    ledger, log = Ledger(tmp_path), tmp_path / LOG
    first = Call(time="", method="POST", path="/v1/chat/completions")
    ledger.begin(first)
    before, limits = log.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))  # as a full disk, in the middle of a line
    try:
        with pytest.raises(LedgerError, match="is the disk full"):
            ledger.begin(Call(time="", method="POST", path="/v1/chat/completions"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert log.read_bytes() == before
    ledger.begin(second := Call(time="", method="POST", path="/v1/chat/completions"))
    ledger.end(first)
    assert [(call.number, call.outcome) for call in read_calls(log)] == [(1, "failed"), (2, "cut")]
    assert second.number == 2
    ledger.close()


def test_calls_at_once_over_all_gateways(tmp_path, gateway):
    """Two runs' gateways share the places of one endpoint."""
    answers = Script(answers=(Answer(text="x", delay=0.1, times=0),))
    with scripted_model(answers) as model:
        shared = {"endpoint": model.url, "max_calls": 2, "slots": str(tmp_path / "slots")}
        fronts = []
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            fronts.append(gateway(folder=tmp_path / name, **shared))
        asking = [threading.Thread(target=front.ask) for front in fronts for _ in range(4)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        assert (model.served.calls, model.served.most_at_once) == (8, 2)
    assert max(call.waited for front in fronts for call in front.calls()) > 0.2
