"""Which calls are forwarded, by method and path."""

from __future__ import annotations

import json

import pytest

from mlecore_gateway.refusals import Refusal
from mlecore_gateway.routes import Rule, find_route

from .conftest import CHAT, post, raw


def status_of(front, method, path, body=CHAT) -> int:
    """The status of a request whose path no client library puts in order."""
    packed = json.dumps(body).encode() if body is not None else b""
    answer = raw(front, post(path.encode(), packed, b"Connection: close\r\n").replace(b"POST", method.encode(), 1))
    return int(answer.split()[1])


CALLS_OF_AGENTS = [
    ("/v1", "POST", "/v1/chat/completions"),
    ("/v1", "POST", "/v1/completions"),
    ("/v1", "POST", "/v1/responses"),
    ("/v1", "POST", "/v1/messages"),
    ("/v1", "POST", "/v1/messages/count_tokens?beta=true"),
    ("/v1", "POST", "/v1/embeddings"),
    ("/v1", "GET", "/v1/models"),
    ("/v1", "GET", "/v1/models/meta-llama/Llama-3:8b?after_id=x&limit=3"),
    ("", "POST", "/v1/messages"),
    ("", "POST", "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"),
    ("", "POST", "/openai/responses?api-version=2025-04-01-preview"),
    ("/api/v1", "POST", "/api/v1/chat/completions"),
    ("/anthropic", "POST", "/anthropic/v1/messages"),
    ("/v1beta", "POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
    ("", "POST", "/v1beta/models/gemini-2.5-pro:countTokens"),
    ("", "POST", "/v1beta/openai/chat/completions"),
]


@pytest.mark.parametrize(("base", "method", "target"), CALLS_OF_AGENTS)
def test_calls_of_agents(base, method, target):
    path, _, query = target.partition("?")
    assert not find_route(base, (), method, path, query).by_rule


ELSE = [
    *(("POST", path) for path in ("/v1/files", "/v1/fine_tuning/jobs", "/v1/messages/batches", "/v1/conversations")),
    *(("POST", path) for path in ("/v1/responses/resp_1/cancel", "/v1/responses/compact", "/v1/realtime/sessions")),
    *(("POST", path) for path in ("/v1/models/gemini:batchGenerateContent", "/v1beta/cachedContents")),
    *(("GET", path) for path in ("/v1/files/file-1/content", "/v1/organization/users", "/v1/generation?id=x")),
    *(
        ("GET", path)
        for path in ("/v1/chat/completions/chatcmpl-1", "/v1/responses/resp_1", "/v1/conversations/1/items")
    ),
    *(("DELETE", path) for path in ("/v1/responses/resp_1", "/v1/models/ft:gpt-4o:me")),
    *(("PUT", "/v1/chat/completions"), ("PATCH", "/v1/models"), ("HEAD", "/v1/models"), ("OPTIONS", "/v1/models")),
    # In disguise
    *(("POST", path) for path in ("/v1//chat/completions", "/v1/./chat/completions", "/v1/chat/completions/..")),
    *(("POST", path) for path in ("/v1/files/../chat/completions", "/v1/chat/completions/%2e%2e/%2e%2e/files")),
    *(("POST", f"/v1/chat/completions{end}") for end in ("/", "%00", "%20", "%3f", ";x=y", ";/../../files", "%3bx")),
    *(
        ("POST", path)
        for path in ("/v1/chat%2fcompletions", "/v1/%63hat/completions", "/v1\\files", "/V1/Chat/Completions")
    ),
    *(("POST", f"/v1/chat/completions?{query}") for query in ("_method=DELETE", "$httpMethod=DELETE", "%5fmethod=PUT")),
    *(
        ("POST", f"/v1/chat/completions?{query}")
        for query in ("url=http://evil.example", "key=another", "a=b;method=PUT")
    ),
    *(("POST", path) for path in ("/v1/models/x%2f..%2ffiles:generateContent", "/v1/models/..:generateContent")),
    *(("POST", path) for path in ("/openai/deployments/a%2fb/chat/completions", "/v1/images/%2e%2e", "/v1/images/..")),
    ("GET", "/v1/models/scripted%2f..%2f..%2ffiles"),
]


@pytest.mark.parametrize(("method", "target"), ELSE)
def test_everything_else_is_rejected(closed, method, target):
    """Also under a rule of -G allow for another path."""
    assert status_of(closed, method, target) in (400, 401, 403, 404)
    assert closed.model.served.calls == 0 and closed.calls()[-1].outcome == "refused"


def test_a_rule_lets_more_through(gateway):
    front = gateway(allow=("POST /v1/images/*", "GET /v1/files/**"))
    asked = {"model": "scripted", "prompt": "a bird"}
    assert status_of(front, "POST", "/v1/images/generations", asked) == 404, "the endpoint knows none"
    assert status_of(front, "GET", "/v1/files/file-1/content", None) in (400, 404)
    assert front.model.served.calls == 2
    for method, path in (("GET", "/v1/images/generations"), ("POST", "/v1/images/a/b"), ("DELETE", "/v1/files/x")):
        assert status_of(front, method, path, asked) in (400, 403)
    assert status_of(front, "POST", "/v1/images/generations", {**asked, "model": "other"}) == 403
    assert front.model.served.calls == 2


def test_a_call_that_a_rule_allows_needs_no_model(front_of, reply):
    with front_of(lambda handler, _: reply(handler, b"{}"), allow=("POST /v1/files",)) as front:
        assert front.ask("/v1/files", b"--x\r\n", Content_Type="multipart/form-data; boundary=x")[0] == 200
        (call,) = front.calls()
    assert (call.outcome, call.usage) == ("passed", "none")


@pytest.mark.parametrize("text", ["", "POST", "/v1/files", "BREW /v1/x", "POST v1/x", "POST /v1/../x", "post /v1/x"])
def test_what_is_no_rule(text):
    with pytest.raises(ValueError, match="is not a method and a path"):
        Rule.parse(text)


def test_a_long_path_is_quickly_rejected():
    with pytest.raises(Refusal):
        find_route("/v1", (Rule.parse("POST /v1/**/x/**"),), "GET", "/v1/models/" + "a:" * 20_000 + "!", "")
