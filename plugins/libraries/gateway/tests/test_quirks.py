"""What servers do that the protocols do not foresee. Each row of the table in docs/gateway.md has its test here."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading

import pytest

from mlecore_gateway import exchange, server
from mlecore_gateway.failures import failure_in

from .conftest import CHAT, TOKEN

STREAM = {**CHAT, "stream": True}
ANSWER = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "some words"}}]}
USAGE = {"prompt_tokens": 3, "completion_tokens": 2}


def chunk(text: str, **more) -> str:
    return json.dumps({"model": "m", "choices": [{"index": 0, "delta": {"content": text}}], **more})


def events(*data: str, end: str = "\n\n") -> bytes:
    return "".join(f"data: {each}{end}" for each in data).encode()


@pytest.fixture
def serve(front_of, reply):
    """A gateway before an endpoint that answers everything with these bytes."""

    def start(body: bytes | dict, stream: bool = False, **settings):
        packed = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "text/event-stream" if stream else "application/json"
        return front_of(lambda handler, _: reply(handler, packed, Content_Type=kind), **settings)

    return start


# Status 200 with an error in it

ERRORS = [
    ({"error": {"message": "Provider returned error", "code": 429, "metadata": {}}, "user_id": "u"}, 429, "Provider"),
    ({"error": {"message": "Bad gateway", "code": 502}}, 502, "Bad gateway"),
    ({"error": {"message": "Insufficient credits", "code": "402"}}, 402, "Insufficient credits"),
    ({"error": {"message": "No auth credentials found", "code": 401}}, 401, "No auth"),
    ({"error": "the model runner has stopped"}, 502, "the model runner"),
    ({"code": 503, "message": "Busy."}, 503, "Busy."),
    ({"code": "1302", "msg": "Rate limit reached"}, 429, "Rate limit"),
    ({"object": "error", "message": "boom", "type": "InternalServerError", "code": None}, 500, "boom"),
    ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 503, "Overloaded"),
    ([{"error": {"code": 429, "message": "Slow down", "status": "RESOURCE_EXHAUSTED"}}], 429, "Slow down"),
    ({"detail": "Upstream failed"}, 502, "Upstream failed"),
    ({"success": False, "errors": [{"code": 10000, "message": "Authentication error"}]}, 401, "Authentication error"),
    ({"choices": [{"error": {"code": 502, "message": "x"}, "message": {"content": ""}}]}, 502, "x"),
    ({"status": "failed", "output": [], "error": {"code": "rate_limit_exceeded", "message": "y"}}, 429, "y"),
    ({"error": {"message": "", "type": "server_error"}}, 500, "without a message"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status", "words", "stream"),
    [*((*error, False) for error in ERRORS), (*ERRORS[0], True), (*ERRORS[4], True)],
)
def test_an_error_with_status_200_gets_the_status_that_it_means(serve, body, status, words, stream):
    packed = b": PROCESSING\n\n" + events(json.dumps(body), "[DONE]") if stream else body
    with serve(packed, stream) as front:
        got, headers, shown = front.ask(body=STREAM if stream else CHAT)
        (call,) = front.calls()
    assert got == call.status == status and words in json.loads(shown)["error"]["message"]
    assert headers["Content-Type"] == "application/json" and "x-should-retry" not in headers
    assert (call.outcome, call.usage) == ("failed", "none") and words in call.reason


@pytest.mark.parametrize("body", [b"", b" \n\n ", b"<html>Log in</html>", b": OPENROUTER PROCESSING\n\n"])
def test_no_answer_at_all_is_an_error(serve, body):
    with serve(body, stream=body.startswith(b":")) as front:
        assert front.ask()[0] == 502
        assert front.calls()[0].outcome == "failed"


@pytest.mark.parametrize(
    "body",
    [
        {**ANSWER, "error": None},
        {"output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}], "error": None},
        {"object": "list", "data": [{"embedding": [0.1]}], "message": "deprecated"},
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"choices": [{"message": {"content": '{"error": {"code": 429}}'}}]},
        {},
    ],
)
def test_an_answer_that_only_resembles_an_error_passes(serve, body):
    assert failure_in(json.dumps(body)) is None
    with serve(body) as front:
        assert front.ask()[::2] == (200, json.dumps(body).encode())


def test_an_error_with_status_200_is_retried_as_any_other(front_of, reply):
    served = []

    def answer(handler, _):
        served.append(handler)
        body = {"error": {"code": 502, "message": "x"}} if len(served) < 3 else {**ANSWER, "usage": USAGE}
        reply(handler, json.dumps(body).encode(), Retry_After="0")

    with front_of(answer, retries=2) as front:
        assert front.ask()[0] == 200
        (call,) = front.calls()
    assert (call.retries, call.usage, call.outcome) == (2, "counted", "passed")


def test_an_error_after_a_part_of_the_answer_passes_and_the_call_has_failed(serve):
    body = events(chunk("a"), '{"error": {"code": 502, "message": "Provider disconnected"}, "choices": []}', "[DONE]")
    with serve(body, stream=True) as front:
        assert front.ask(body=STREAM)[::2] == (200, body)
        (call,) = front.calls()
    assert call.outcome == "failed" and "Provider disconnected" in call.reason and call.usage == "unknown"


# Silence


@pytest.mark.parametrize(("before", "status"), [(b"", 504), (b": keep-alive\n\n", 504), (events(chunk("a")), 200)])
@pytest.mark.parametrize("headers", [False, True])
def test_an_endpoint_that_stays_silent(front_of, monkeypatch, before, status, headers):
    """Before its headers, after them, or in the middle of a stream; comments may keep the connection for longer."""
    monkeypatch.setattr(server, "SILENT_SECONDS", 0.3)
    monkeypatch.setattr(exchange, "KEPT_SECONDS", 0.6)
    over = threading.Event()

    def answer(handler, _):
        with contextlib.suppress(OSError):
            if headers or before:
                handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + before)
            while not over.wait(0.1):
                handler.wfile.write(before if before.startswith(b":") else b"")
        handler.close_connection = True

    with front_of(answer) as front:
        try:
            got = front.ask(body=STREAM)[0]
        except (OSError, http.client.HTTPException):
            got = 200
        (call,) = front.calls()
        over.set()
    assert got == status
    assert call.fault.startswith("the endpoint does not answer (no answer within ")
    assert call.outcome == ("failed" if status == 504 else "cut")


def test_comments_pass_while_the_model_waits(front_of, monkeypatch):
    """A client may need them to stay connected; an error then comes too late for a status."""
    monkeypatch.setattr("mlecore_gateway.reply.HELD_SECONDS", 0.0)
    go = threading.Event()

    def answer(handler, _):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: PROCESSING\n\n")
        go.wait(60)
        handler.wfile.write(events('{"error": {"code": 502, "message": "x"}}'))
        handler.close_connection = True

    with front_of(answer) as front:
        connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=60)
        connection.request("POST", "/v1/chat/completions", json.dumps(STREAM), {"Authorization": f"Bearer {TOKEN}"})
        response = connection.getresponse()
        assert response.read1(100) == b": PROCESSING\n\n"
        go.set()
        assert b'"code": 502' in response.read()
        (call,) = front.calls()
    assert (call.status, call.outcome) == (200, "failed") and call.first_byte is not None


# Usage


@pytest.mark.parametrize(
    ("usage", "stream"),
    [
        *((None, False), (None, True), ("100 tokens", False), ([3, 2], False), ({"total_tokens": 5}, False)),
        ({"prompt_tokens": "3", "completion_tokens": "2"}, False),
        ({"prompt_tokens": True, "completion_tokens": True}, True),
        ({"prompt_tokens": 3, "completion_tokens": None}, False),
        ({"prompt_tokens": -3, "completion_tokens": 2}, False),
        ({"prompt_tokens": {"count": 3}, "completion_tokens": {"count": 2}}, True),
        ({"prompt_tokens": 3, "completion_tokens": 0}, False),
        ({"prompt_tokens": 10**9, "completion_tokens": 2}, False),
        ({"prompt_tokens": 3, "completion_tokens": 1e300}, True),
        ({"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": "many"}, False),
    ],
)
def test_usage_that_is_none_is_unknown_and_estimated(serve, usage, stream):
    body = {**ANSWER, "usage": usage}
    packed = events(chunk("some words"), json.dumps({"choices": [], "usage": usage}), "[DONE]") if stream else body
    with serve(packed, stream, budgets=("30tok",)) as front:
        statuses = []
        for _ in range(6):
            statuses.append(front.ask(body=STREAM if stream else CHAT)[0])
            call = front.calls()[0]
    assert (call.usage, call.tokens) == ("unknown", None)
    assert 3 <= call.estimate.input < 99 and 2 <= call.estimate.output < 99
    assert statuses[0] == 200 and statuses[-1] == 429, "the estimate uses up the budget"


@pytest.mark.parametrize(
    ("asked", "text", "usage", "true"),
    [
        (4000, 4000, (1000, 1000), True),
        (4000, 4000, (4500, 4000), True),  # a token for each byte
        (4000, 4000, (5, 1000), False),
        (4000, 4000, (1000, 5), False),
        (4000, 10, (30_000, 2), True),  # with what the server adds
        (4000, 10, (60_000, 2), False),
        (4000, 10, (1000, 3000), True),  # reasoning that is not shown
        (4000, 10, (1000, 9000), False),  # more than was allowed
    ],
)
def test_which_counts_can_be_true(serve, asked, text, usage, true):
    given = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    with serve({"model": "m", "choices": [{"message": {"content": "a" * text}}], "usage": given}) as front:
        front.ask(body={**CHAT, "max_tokens": 4096, "messages": [{"role": "user", "content": "b" * asked}]})
        assert front.calls()[0].usage == ("counted" if true else "unknown")


def test_few_tokens_for_a_picture_are_true(serve):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}}
    with serve({**ANSWER, "usage": {"prompt_tokens": 90, "completion_tokens": 2}}) as front:
        front.ask(body={**CHAT, "messages": [{"role": "user", "content": [picture]}]})
        assert front.calls()[0].tokens.input == 90


def test_the_part_of_a_count_that_is_none_leaves_the_count(serve):
    details = {
        "prompt_tokens_details": {"cached_tokens": "all"},
        "completion_tokens_details": {"reasoning_tokens": 1e9},
    }
    with serve({**ANSWER, "usage": {**USAGE, **details}}) as front:
        front.ask()
        (call,) = front.calls()
    assert (call.tokens.input, call.tokens.output, call.tokens.cached, call.tokens.reasoning) == (3, 2, 0, 0)


def test_reasoning_that_the_output_leaves_out(serve):
    """As xAI counts it; the total shows that."""
    usage = {**USAGE, "total_tokens": 45, "completion_tokens_details": {"reasoning_tokens": 40}}
    with serve({**ANSWER, "usage": usage}) as front:
        front.ask()
        assert front.calls()[0].tokens.output == 42


# Streams

LAST = json.dumps({"model": "m", "choices": [], "usage": USAGE})
TEXT = "data: {}\n\n".format(chunk("wörds")).encode()


@pytest.mark.parametrize(
    ("sent", "counted"),
    [
        (events(chunk("a"), LAST, "[DONE]", end="\r\n\r\n"), True),
        (events(chunk("a"), LAST, "[DONE]", end="\r\r"), True),
        (events(chunk("a"), LAST, end="\n"), True),
        (events(chunk("a"), LAST), True),
        (events(chunk("a"), LAST)[:-2], True),
        (b"\xef\xbb\xbf" + events(LAST, chunk("a"), "[DONE]"), True),
        (b": PROCESSING\n\n\n" + events(chunk("a"), LAST, "[DONE]"), True),
        (b"event: x\nid: 1\nretry: 5\n" + events(chunk("a"), LAST), True),
        (events(chunk("a"), "[DONE]", LAST), True),
        (events(chunk("a", usage=USAGE), chunk("b", usage={**USAGE, "completion_tokens": 3}), "[DONE]"), True),
        (events('{"choices": [], "prompt_filter_results": []}', chunk("a"), LAST), True),
        (events(chunk("a"), json.dumps({"usage": USAGE})), True),
        (events(chunk("a"), "no JSON", "[]", "null", "3", '""', LAST), True),
        (TEXT + events(LAST), True),
        (events(chunk("a"), "[DONE]"), False),
        (events(chunk("a", usage=None), json.dumps({"choices": [], "x_groq": {"usage": USAGE}})), True),
        (json.dumps({**ANSWER, "usage": USAGE}).encode(), True),  # no stream, whatever was asked for
    ],
)
def test_streams_of_many_shapes(front_of, sent, counted):
    """Cut anywhere, in the middle of a letter too; they pass unchanged, and their tokens are counted, by any name."""
    kind = ("text/event-stream", "application/json", "")[len(sent) % 3]

    def answer(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Connection", "close")
        handler.end_headers()
        for start in range(0, len(sent), 50):
            handler.wfile.write(sent[start : start + 50])
            handler.wfile.flush()
        handler.close_connection = True

    with front_of(answer) as front:
        status, _, body = front.ask(body={**STREAM, "stream_options": {"include_usage": True}})
        (call,) = front.calls()
    assert (status, body, call.outcome) == (200, sent, "passed")
    assert call.usage == ("counted" if counted else "unknown")
    assert call.tokens is None if not counted else call.tokens.input == 3


def test_a_report_in_an_event_without_choices_is_hidden_too(serve):
    for report in ({"choices": None, "usage": USAGE}, {"choices": [], "usage": USAGE}, {"usage": USAGE}):
        with serve(events(chunk("a"), json.dumps(report)), stream=True) as front:
            assert front.ask(body=STREAM)[2] == events(chunk("a"))


def test_text_in_few_events_is_estimated_by_its_length(serve):
    with serve(events(chunk("a" * 4000), "[DONE]"), stream=True) as front:
        front.ask(body=STREAM)
        assert front.calls()[0].estimate.output == 1000
