"""Which calls are forwarded, by method and path."""

from __future__ import annotations

import http.client
import json

import pytest
from mlecore_gateway.refusals import Refusal
from mlecore_gateway.routes import Rule, find_route

TOKEN = "mlecore-run-token"
CHAT = {"model": "scripted", "messages": [{"role": "user", "content": "hello"}]}


def raw_request(front, method, path, body=CHAT, **headers):
    """The status of a request whose path no client library puts in order."""
    connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=10)
    connection.putrequest(method, path, skip_accept_encoding=True)
    packed = json.dumps(body).encode() if body is not None else b""
    given = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    for name, value in {**given, "Content-Length": str(len(packed)), **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders(packed)
    answer = connection.getresponse()
    out = answer.status, answer.read()
    connection.close()
    return out


CALLS_OF_AGENTS = [
    ("/v1", "POST", "/v1/chat/completions"),
    ("/v1", "POST", "/v1/completions"),
    ("/v1", "POST", "/v1/responses"),
    ("/v1", "POST", "/v1/responses/input_tokens"),
    ("/v1", "POST", "/v1/messages"),
    ("/v1", "POST", "/v1/messages?beta=true"),
    ("/v1", "POST", "/v1/messages/count_tokens?beta=true"),
    ("/v1", "POST", "/v1/embeddings"),
    ("/v1", "GET", "/v1/models"),
    ("/v1", "GET", "/v1/models/gpt-4o"),
    ("/v1", "GET", "/v1/models/meta-llama/Llama-3:8b?after_id=x&limit=3"),
    ("", "POST", "/v1/messages"),
    ("", "POST", "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"),
    ("", "POST", "/openai/responses?api-version=2025-04-01-preview"),
    ("/openai", "POST", "/openai/deployments/my-gpt/embeddings?api-version=2024-10-21"),
    ("/api/v1", "POST", "/api/v1/chat/completions"),
    ("/api", "POST", "/api/v1/messages"),
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
    ("POST", "/v1/files"),
    ("GET", "/v1/files"),
    ("GET", "/v1/files/file-1/content"),
    ("POST", "/v1/fine_tuning/jobs"),
    ("POST", "/v1/batches"),
    ("POST", "/v1/messages/batches"),
    ("GET", "/v1/messages/batches"),
    ("POST", "/v1/vector_stores"),
    ("POST", "/v1/assistants"),
    ("POST", "/v1/threads/runs"),
    ("POST", "/v1/images/generations"),
    ("POST", "/v1/audio/transcriptions"),
    ("POST", "/v1/conversations"),
    ("POST", "/v1/containers"),
    ("GET", "/v1/organization/users"),
    ("GET", "/v1/chat/completions"),
    ("GET", "/v1/chat/completions/chatcmpl-1"),
    ("POST", "/v1/chat/completions/chatcmpl-1"),
    ("GET", "/v1/responses/resp_1"),
    ("POST", "/v1/responses/resp_1/cancel"),
    ("DELETE", "/v1/responses/resp_1"),
    ("DELETE", "/v1/models/ft:gpt-4o:me"),
    ("DELETE", "/v1/files/file-1"),
    ("PUT", "/v1/chat/completions"),
    ("PATCH", "/v1/models"),
    ("HEAD", "/v1/models"),
    ("OPTIONS", "/v1/chat/completions"),
    ("GET", "/v1/generation?id=x"),
    ("POST", "/v1/models/gemini:batchGenerateContent"),
    ("POST", "/v1beta/cachedContents"),
]


@pytest.mark.parametrize(("method", "target"), ELSE)
@pytest.mark.parametrize("any_model", [False, True])
def test_everything_else_is_rejected(gateway, method, target, any_model):
    """``--any-model`` lifts the check of models, and nothing else."""
    front = gateway(any_model=any_model)
    status, body = raw_request(front, method, target)
    assert status in (403, 404) and front.model.served.calls == 0
    assert method == "HEAD" or b"it is not forwarded" in body or status == 404
    (call,) = front.calls()
    assert call.outcome == "refused"


TRICKS = [
    "/v1//chat/completions",
    "//v1/chat/completions",
    "/v1/./chat/completions",
    "/v1/files/../chat/completions",
    "/v1/chat/completions/",
    "/v1/chat/completions/.",
    "/v1/chat/completions/..",
    "/v1/chat/completions/%2e%2e/%2e%2e/files",
    "/v1/chat%2fcompletions",
    "/v1/chat%2Fcompletions",
    "/v1/%63hat/completions",
    "/v1/chat/completions%00",
    "/v1/chat/completions;x=y",
    "/v1/chat/completions;/../../files",
    "/v1\\files",
    "/V1/chat/completions",
    "/v1/Chat/Completions",
    "/v1/chat/completions%3f",
    "/v1/chat/completions?_method=DELETE",
    "/v1/chat/completions?$httpMethod=DELETE",
    "/v1/chat/completions?%5fmethod=DELETE",
    "/v1/chat/completions?x-http-method-override=PUT",
    "/v1/models/x%2f..%2ffiles:generateContent",
    "/v1/models/..:generateContent",
    "/openai/deployments/a%2fb/chat/completions",
    "/v1/deployments/../files/chat/completions",
]


@pytest.mark.parametrize("target", TRICKS)
def test_paths_in_disguise(gateway, target):
    """A disguised path passes neither as a model call nor under a rule of --gateway-allow."""
    front = gateway(any_model=True, allow=("POST /v1/images/*",))
    status, _ = raw_request(front, "POST", target)
    assert status in (400, 403, 404) and front.model.served.calls == 0


def test_method_in_a_header_is_not_forwarded(front_of, reply):
    seen = {}

    def answer(handler, _):
        seen.update({"method": handler.command, **{name.lower(): value for name, value in handler.headers.items()}})
        reply(handler, b"{}")

    names = ("X_HTTP_Method_Override", "X_HTTP_Method", "X_Method_Override", "X_Original_URL", "X_Rewrite_URL")
    with front_of(answer) as front:
        front.ask(**dict.fromkeys(names, "DELETE"))
    assert seen["method"] == "POST" and "DELETE" not in seen.values()


def test_a_rule_lets_more_through(gateway):
    front = gateway(allow=("POST /v1/images/*", "GET /v1/files/**"))
    asked = {"model": "scripted", "prompt": "a bird"}
    assert raw_request(front, "POST", "/v1/images/generations", asked)[0] == 404, "the endpoint knows none"
    assert raw_request(front, "GET", "/v1/files/file-1/content", None)[0] in (400, 404)
    assert front.model.served.calls == 2
    for method, path in (
        ("GET", "/v1/images/generations"),
        ("POST", "/v1/images/a/b"),
        ("POST", "/v1/images/%2e%2e"),
        ("POST", "/v1/images/.."),
        ("DELETE", "/v1/files/x"),
    ):
        assert raw_request(front, method, path, asked)[0] in (400, 403)
    assert raw_request(front, "POST", "/v1/images/generations", {**asked, "model": "other"})[0] == 403
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
