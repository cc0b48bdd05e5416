"""Which failed calls are the endpoint's fault: those that a tiny call of the gateway's own confirms."""

from __future__ import annotations

import http.client
import json
import threading
import time

import pytest

from mlecore_gateway import faults
from mlecore_gateway.ledger import LOG, read_calls
from mlecore_gateway.settings import Settings
from mlecore_testing.models import Answer, Script, scripted_model

from .conftest import CHAT, TOKEN, running

DOWN = Answer(status=503, text="Overloaded.", times=0)


@pytest.mark.parametrize(
    ("path", "stream"),
    [("chat/completions", False), ("chat/completions", True), ("responses", True), ("messages", True)],
)
def test_a_server_error_that_a_probe_meets_too(gateway, path, stream):
    front = gateway(DOWN)
    assert front.ask(f"/v1/{path}", {**CHAT, "input": "hello", "stream": stream})[0] == 503
    (call,) = front.calls()
    assert call.fault == "the endpoint fails (status 503: Overloaded.)"


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1/v1", "http://no-such-host.invalid/v1"])
def test_an_endpoint_that_is_gone(gateway, endpoint):
    front = gateway(endpoint=endpoint)
    status, _, body = front.ask()
    (call,) = front.calls()
    assert status == 502 and b"cannot be reached" in body
    assert (call.outcome, call.usage) == ("failed", "none")
    assert call.fault.startswith("the endpoint cannot be reached (")


def test_a_rejected_key(gateway):
    front = gateway(script=Script(key="sk-another"))
    assert front.ask()[0] == 401
    assert front.calls()[0].fault == "the endpoint rejects the key (status 401: Incorrect API key provided.)"


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (404, "The model `scripted` does not exist or you do not have access to it.", "does not have the model"),
        (429, "You exceeded your current quota, please check your plan and billing details.", "quota is used up"),
        (400, "Your credit balance is too low to access the Anthropic API.", "quota is used up"),
        (402, "Insufficient Balance", "quota is used up"),
    ],
)
def test_a_planned_model_that_is_gone_and_an_account_without_credit(gateway, status, text, kind):
    front = gateway(Answer(status=status, text=text, times=0))
    assert front.ask()[0] == status
    assert kind in front.calls()[0].fault


def test_what_only_the_agents_request_causes(gateway):
    """The endpoint fails on what the agent sends, and answers the probe."""
    front = gateway(Answer(status=500, when="crash", times=0), Answer(text="fine", times=0))
    crash = {**CHAT, "messages": [{"role": "user", "content": "crash"}]}
    assert front.ask(body=crash)[0] == 500
    (call,) = front.calls()
    assert call.fault == "" and front.model.served.probes == 1


@pytest.mark.parametrize(
    ("status", "text"),
    [(400, "messages: expected a list"), (413, "too large"), (429, "Rate limit reached for requests per minute")],
)
def test_what_no_endpoint_answers_is_not_probed(gateway, status, text):
    front = gateway(Answer(status=status, text=text, times=0))
    assert front.ask()[0] == status
    assert front.calls()[0].fault == "" and front.model.served.probes == 0


def test_a_header_by_which_the_agent_has_the_key_rejected(front_of, reply):
    def answer(handler, body):
        own = handler.headers.get("OpenAI-Beta")
        reply(handler, b'{"error": {"message": "no access to this beta"}}' if own else b"{}", 401 if own else 200)

    with front_of(answer) as front:
        assert front.ask(OpenAI_Beta="nobody=v1")[0] == 401
        assert front.calls()[0].fault == ""


def test_an_api_that_fails_while_another_one_answers(front_of, reply):
    """The agent chose the API, unless it has worked before."""
    broken = threading.Event()

    def answer(handler, body):
        fails = broken.is_set() and handler.path.endswith("/responses")
        reply(handler, b"{}", 500 if fails else 200)

    asked = {"model": "scripted", "input": "hello"}
    with front_of(answer) as front:
        broken.set()
        assert front.ask("/v1/responses", asked)[0] == 500
        assert front.calls()[-1].fault == ""
    with front_of(answer) as front:
        broken.clear()
        assert front.ask("/v1/responses", asked)[0] == 200
        broken.set()
        assert front.ask("/v1/responses", asked)[0] == 500
        assert front.calls()[-1].fault == "the endpoint fails (status 500)"


def test_a_model_that_nobody_planned_counts_only_while_the_planned_ones_fail_too(gateway):
    missing = Answer(status=404, text="The model `nonsense` does not exist.", when="odd", times=0)
    front = gateway(missing, Answer(text="fine", times=0), any_model=True)
    odd = {"model": "nonsense", "messages": [{"role": "user", "content": "odd"}]}
    assert front.ask(body=odd)[0] == 404
    assert front.calls()[0].fault == ""


def test_a_stream_that_breaks_off(gateway):
    front = gateway(Answer(text="some words", cut_after=2), DOWN)
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        front.ask(body={**CHAT, "stream": True})
    (call,) = front.calls()
    assert (call.outcome, call.usage, call.tokens) == ("cut", "unknown", None)
    assert call.fault == "the endpoint fails (status 503: Overloaded.)"


def test_a_stream_that_ends_in_an_error(front_of, reply):
    """With status 200, as servers do that are overloaded after they have begun."""
    served = []

    def answer(handler, body):
        served.append(handler.headers["User-Agent"])
        if len(served) == 1:
            events = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"error":{"message":"Overloaded"}}\n\n'
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Content-Length", str(len(events)))
            handler.end_headers()
            handler.wfile.write(events)
        else:
            reply(handler, b"{}", 529)

    with front_of(answer) as front:
        assert front.ask(body={**CHAT, "stream": True})[0] == 200
        (call,) = front.calls()
    assert (call.outcome, call.reason) == ("failed", "the endpoint's answer ended in an error: Overloaded")
    assert call.fault == "the endpoint fails (status 529)" and set(served[1:]) == {"mlecore-probe"}


def test_many_failures_take_few_probes(gateway):
    front = gateway(DOWN)
    for _ in range(20):
        front.ask()
    assert all(call.fault for call in front.calls()) and front.model.served.probes <= 5


def test_an_endpoint_that_never_answers(monkeypatch, tmp_path):
    """Its call is still under way when the gateway ends, and yet it is known whose fault that is."""
    monkeypatch.setattr(faults, "PATIENCE", 0.2)
    monkeypatch.setattr(faults, "PROBE_SECONDS", 0.3)
    with scripted_model(Script(answers=(Answer(delay=60, times=0),))) as model:
        settings = Settings(endpoint=model.url, token=TOKEN, models=("scripted",))
        with running(settings, tmp_path) as port:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            connection.request("POST", "/v1/chat/completions", json.dumps(CHAT), headers)
            while not model.served.probes:
                time.sleep(0.02)
            time.sleep(1.0)
    (call,) = read_calls(tmp_path / LOG)
    assert (call.outcome, call.reason) == ("cut", "the gateway ended")
    assert call.fault == "the endpoint does not answer (no answer within 0.3 s)"


def test_a_call_without_the_endpoints_answer_uses_up_no_budget(gateway):
    front = gateway(Answer(status=503, times=3), Answer(text="fine", times=0), budgets=("1calls",))
    statuses = []
    for _ in range(5):
        statuses.append(front.ask()[0])
        front.calls()  # waits until it is counted
    assert statuses == [503, 503, 503, 200, 429]


def test_half_an_answer_that_was_paid_for_uses_up_the_budget(gateway):
    front = gateway(Answer(text="some words", cut_after=2), DOWN, budgets=("1calls",))
    with pytest.raises((http.client.HTTPException, ConnectionError)):
        front.ask(body={**CHAT, "stream": True})
    (call,) = front.calls()
    assert call.fault and call.estimate
    assert front.ask()[0] == 429
