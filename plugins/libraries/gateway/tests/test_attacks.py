"""Requests of an attacker, each of which must be rejected before the model's endpoint hears of it.

They try what a strict gateway and a lax endpoint could read differently: paths, framing, numbers, encodings, spellings,
and the many ways in which providers fetch, search and remember.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from mlecore_gateway.settings import Price

from .conftest import BODY, CHAT, TOKEN, post, raw

HELLO = CHAT["messages"]
EVIL = "https://evil.example/x"


def part(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [fields, {"type": "text", "text": "x" * 300}]}]}


CHATS: dict[str, dict[str, Any] | bytes] = {
    # The same thing twice, of which an endpoint may take the other one.
    "a tool's type twice": b'{"model":"scripted","messages":[],"tools":[{"type":"web_search","type":"function"}]}',
    "a content twice": b'{"model":"scripted","messages":[{"content":[{"file_id":"file-1"}],"content":"x"}]}',
    "an escaped twin": b'{"model":"scripted","messages":[],"tools":[{"type":"web_search","t\\u0079pe":"function"}]}',
    "a model in capitals twice": b'{"model": "scripted", "MODEL": "other"}',
    "limits in capitals": {"Max_Tokens": 100_000, "max_tokens": 5},
    "answers in capitals": {"N": 1000},
    # Numbers.
    "answers as text": {"n": "1000"},
    "answers as a table": {"n": {"$numberInt": "1000"}},
    "half an answer": {"n": 0.5},
    "more answers than counted": {"n": 10**12},
    "true answers": {"n": True},
    "negative answers": {"n": -1},
    "the best of many": {"best_of": "1000"},
    "a limit as text": {"max_tokens": "100000", "max_completion_tokens": 5},
    "an infinite limit": b'{"model":"scripted","messages":[],"max_tokens":1e400}',
    "no number": b'{"model":"scripted","messages":[],"max_tokens":NaN}',
    # The body's encoding.
    "UTF-16 without a mark": json.dumps(CHAT).encode("utf-16-le"),
    "UTF-32": json.dumps(CHAT).encode("utf-32"),
    "a byte order mark": b"\xef\xbb\xbf" + BODY,
    "broken UTF-8 in a field": b'{"model":"scripted","messages":[],"stream_options":"\xff","stream":true}',
    "a lone surrogate in tools": b'{"model":"scripted","messages":[],"tools":[{"type":"\\ud800"}]}',
    "a lone surrogate in a name": b'{"model":"scripted","messages":[],"\\udfff":1}',
    "a NUL in a name": b'{"model":"scripted","messages":[],"tools\0":[]}',
    "a comment": b'{"model":"scripted",/* */"messages":[]}',
    "two bodies": BODY + b'{"model":"other","messages":[]}',
    "a list": b"[" + BODY + b"]",
    "text": b'"scripted"',
    "half a body": BODY[:-1],
    "a depth of tools": b'{"model":"scripted","messages":[],"tools":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a depth of options": b'{"model":"scripted","stream":true,"messages":[],"stream_options":'
    + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
    "a depth without an end": b"[" * 100_000,
    # Other models.
    "another model": {"model": "other"},
    "a model in a list": {"model": ["scripted", "other"]},
    "a list of models": {"models": ["scripted", "other"]},
    "a fallback": {"fallbacks": [{"model": "other"}]},
    "a fallback's name": {"fallbacks": ["other"]},
    "a model in capitals": {"model": "Scripted"},
    "a model with a line break": {"model": "scripted\n"},
    "a model as a number": {"model": 7},
    "no model": {"model": None},
    "a preset": {"model": "scripted@preset/web"},
    # Search, in the dialects of providers.
    "Zhipu's": {"tools": [{"type": "web_search", "web_search": {"enable": True}}]},
    "Baidu's": {"web_search": {"enable": True}},
    "Cohere's": {"connectors": [{"id": "web-search"}]},
    "Venice's": {"venice_parameters": {"enable_web_search": "on"}},
    "Alibaba's": {"enable_search": True},
    # Endpoints that are gateways themselves.
    "fields in a field": {"extra_body": {"web_search_options": {}}},
    "headers in a field": {"extra_headers": {"x": "y"}},
    "another endpoint": {"api_base": "https://evil.example/v1"},
    # URLs and files.
    "a document's URL": part(type="document_url", document_url=EVIL),
    "a picture by its URL": part(type="image", image=EVIL),
    "a video by its URLs": part(type="video", video=[EVIL]),
    "a bucket": part(type="image_url", image_url="gs://bucket/x"),
    "a file of the host": part(type="image_url", image_url={"url": "file:///etc/passwd"}),
    "an escaped colon": b'{"model":"scripted","messages":[{"role":"user","content":[{"type":"image",'
    b'"image":"https\\u003a//evil.example/x"}]}]}',
    "escaped slashes": b'{"model":"scripted","messages":[{"role":"user","content":[{"type":"image",'
    b'"image":"https:\\/\\/evil.example/x"}]}]}',
    "a URL after a blank, in capitals": part(type="image_url", image_url={"url": " HTTPS://EVIL.EXAMPLE"}),
    "an earlier answer's sound": {"messages": [{"role": "assistant", "audio": {"id": "audio_1"}}]},
    "files of a message": part(type="file", file_ids=["file-1"]),
}  # fmt: skip
RESPONSES: dict[str, dict[str, Any] | bytes] = {
    "a response by its number": {"previous_response_id": 7},
    "a conversation's name": {"conversation": "conv_1"},
    "an item's reference in a list": {"input": [[{"type": "item_reference", "id": "msg_1"}]]},
    "an item without a type": {"input": [{"id": "rs_1", "type": None}]},
    "a tool in a tool": {
        "tools": [{"type": "namespace", "tools": [{"type": "namespace", "tools": [{"type": "mcp"}]}]}]
    },
    "background as a number": {"background": 1},
    "stored as text": {"store": "true"},
    "a file's data as a URL": {"input": [{"role": "user", "content": [{"type": "input_file", "file_data": EVIL}]}]},
    "a limit as text": {"max_output_tokens": "100000", "max_tokens": 5},
}
GEMINI: dict[str, dict[str, Any] | bytes] = {
    "its other name": {"generationConfig": {"maxOutputTokens": 5}, "generation_config": {"candidateCount": "1000"}},
    "retrieval": {"tools": [{"google_search_retrieval": {}}]},
    "a file": {"contents": [{"parts": [{"file_data": {"file_uri": "files/1"}}]}]},
}
BODIES = [
    pytest.param(path, {"model": "scripted", **base, **body} if isinstance(body, dict) else body, id=f"{name}-{path}")
    for path, base, cases in (
        ("/v1/chat/completions", {"messages": HELLO}, CHATS),
        ("/v1/responses", {"input": HELLO}, RESPONSES),
        ("/v1/models/scripted:generateContent", {"contents": []}, GEMINI),
    )
    for name, body in cases.items()
]


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_a_body_is_rejected(closed, path, body):
    status, _, answer = closed.ask(path, body)
    assert status in (400, 403), answer
    assert closed.model.served.calls == 0 and json.loads(answer)["error"]["message"]


@pytest.mark.parametrize(
    "model",
    [
        *("gpt-4o-search-preview", "gpt-4o-mini-search-preview-2025-03-11", "x/gpt-5-search-api", "o3-deep-research"),
        *("sonar-pro", "perplexity/sonar", "groq/compound-mini", "a:online"),
    ],
)
def test_models_that_search_are_tools(gateway, model):
    front = gateway(any_model=True)
    status, _, answer = front.ask(body={"model": model, "messages": HELLO})
    assert status == 400 and b"web_search" in answer and front.model.served.calls == 0


@pytest.mark.parametrize("fields", [{"service_tier": "priority"}, {"speed": "fast"}, {"inference_geo": "us"}])
def test_a_dearer_service_is_no_part_of_a_budget_in_dollars(gateway, fields):
    front = gateway(budgets=("1usd",), prices={"scripted": Price(input=1, output=1)})
    body = {"model": "scripted", "messages": HELLO, **fields}
    assert front.ask(body=body)[0] == 403 and front.model.served.calls == 0
    assert front.ask(body={**body, **dict.fromkeys(fields)})[0] == 200


AUTHORIZED = b"Host: x\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
GZIP = b"Content-Encoding: gzip\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        # Other hosts and paths; more of them in test_routes.py.
        *(post(path) for path in (b"http://evil.example/v1/chat/completions", b"//evil.example/v1/chat/completions")),
        *(post(path) for path in (b"/v1@evil.example/chat/completions", b"/v1/%252e%252e/admin", b"/v2/x", b"*")),
        # Where a request ends.
        *(post(extra=CHUNKED), post(extra=b"Content-Length: 3\r\n"), post(extra=CHUNKED, length=b"")),
        *(post(length=length) for length in (b" : 3", b": +3", b": 3, 3", b": 0x3", b": -1")),
        *(post(extra=CHUNKED[:-2] + end, length=b"") for end in (b", identity\r\n", b"x\r\n")),
        post(extra=b"Transfer-Encoding: \x0bchunked\r\n", length=b""),
        *(post(extra=CHUNKED, length=b"", body=size + b"\r\n" + BODY) for size in (b"zz", b"-1", b"f" * 18)),
        # Headers that two servers read differently.
        *(post(extra=line + b"\r\n") for line in (b"X-Folded: a\r\n b: c", b"Bad Header: x", b"X: a\rY: b", b"X: \0")),
        *(post(extra=name + b": another\r\n") for name in (b"Authorization", b"X-Api-Key")),
        *(post(extra=GZIP), post(extra=GZIP, body=gzip.compress(b"[" * 10_000_000))),
        *(post(extra=b"Content-Encoding: br\r\n"), post(extra=b"Expect: 200-ok\r\n")),
        # Other methods and protocols.
        b"POST /v1/chat/completions HTTP/3.0\r\n" + AUTHORIZED + b"\r\n",
        b"post /v1/chat/completions HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"LOCK /v1/models HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"TRACE /v1/models HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET /v1/realtime HTTP/1.1\r\n" + AUTHORIZED + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        *(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ],
    ids=lambda request: repr(request[:80]),
)  # fmt: skip
def test_a_request_is_rejected(closed, request_):
    found = raw(closed, request_, wait=0.5)
    assert all(line.split()[1][:1] in b"45" for line in found.split(b"\r\n") if line.startswith(b"HTTP/1."))
    assert closed.model.served.calls == 0


def test_headers_that_steer_the_endpoint_stay_behind(front_of, reply):
    """Some endpoints are gateways themselves, and send a call with its key wherever a header says."""
    steering = (
        *("Helicone-Target-Url", "X-Portkey-Custom-Host", "X-Portkey-Config", "cf-aig-authorization"),
        *("x-litellm-api-base", "X-HTTP-Method-Override", "X-Method-Override", "X-Original-URL", "X-Rewrite-URL"),
        *("X-Goog-User-Project", "OpenAI-Organization", "Cookie", "Forwarded", "X-Forwarded-For", "X-Real-IP"),
        *("Prefer", "Range", "Destination", "Proxy-Authorization", "TE"),
    )
    seen = {}

    def answer(handler, _):
        seen.update({name.lower(): value for name, value in handler.headers.items()})
        reply(handler, b"{}", X_Own="kept")

    with front_of(answer) as front:
        headers = {**dict.fromkeys(steering, EVIL), "anthropic-beta": "b", "x-stainless-lang": "python"}
        status, got, _ = front.ask(**headers, Content_Type="application/json; charset=utf-7")
    assert status == 200 and got["X-Own"] == "kept"
    assert not {name.lower() for name in steering} & set(seen)
    assert seen["anthropic-beta"] == "b" and seen["x-stainless-lang"] == "python"
    assert seen["content-type"] == "application/json"  # in whose encoding it was read
    assert seen["host"].startswith("127.0.0.1:") and TOKEN not in str(seen)
