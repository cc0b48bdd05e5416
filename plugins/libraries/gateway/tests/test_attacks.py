"""A hundred requests of an attacker, each of which must be rejected before the model's endpoint hears of it.

They try what a strict gateway and a lax endpoint could read differently: paths, framing, numbers, encodings, spellings,
and the many ways in which providers fetch, search and remember.
"""

from __future__ import annotations

import gzip
import json
import socket
from typing import Any

import pytest
from mlecore_gateway.settings import Price

TOKEN = "mlecore-run-token"
HELLO = [{"role": "user", "content": "hello"}]
EVIL = "https://evil.example/x"


def part(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [fields, {"type": "text", "text": "x" * 300}]}]}


def item(**fields: Any) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [fields]}]}


CHAT: dict[str, dict[str, Any] | bytes] = {
    # The same thing twice, of which an endpoint may take the other one.
    "a tool's type twice": b'{"model":"scripted","messages":[],"tools":[{"type":"web_search","type":"function"}]}',
    "a URL twice": b'{"model":"scripted","messages":[{"role":"user","content":[{"type":"image_url",'
    b'"image_url":{"url":"https://evil.example/x","url":"data:,"}}]}]}',
    "a content twice": b'{"model":"scripted","messages":[{"content":[{"file_id":"file-1"}],"content":"x"}]}',
    "an escaped twin": b'{"model":"scripted","messages":[],"tools":[{"type":"web_search","t\\u0079pe":"function"}]}',
    "limits in capitals": {"Max_Tokens": 100_000, "max_tokens": 5},
    "answers in capitals": {"N": 1000},
    # Numbers.
    "answers as text": {"n": "1000"},
    "answers as a list": {"n": [1000]},
    "answers as a table": {"n": {"$numberInt": "1000"}},
    "half an answer": {"n": 0.5},
    "more answers than counted": {"n": 10**12},
    "true answers": {"n": True},
    "negative answers": {"n": -1},
    "no answers": {"n": 0},
    "the best of many": {"best_of": "1000"},
    "a limit as text": {"max_tokens": "100000", "max_completion_tokens": 5},
    "a limit as a table": {"max_tokens": {"a": 1}, "max_completion_tokens": 5},
    "an infinite limit": b'{"model":"scripted","messages":[],"max_tokens":1e400}',
    "no number": b'{"model":"scripted","messages":[],"max_tokens":NaN}',
    "infinity": b'{"model":"scripted","messages":[],"max_tokens":Infinity}',
    # The body's encoding.
    "UTF-16": json.dumps({"model": "scripted", "messages": HELLO}).encode("utf-16"),
    "UTF-16 without a mark": json.dumps({"model": "scripted", "messages": HELLO}).encode("utf-16-le"),
    "UTF-32": json.dumps({"model": "scripted", "messages": HELLO}).encode("utf-32"),
    "a byte order mark": b"\xef\xbb\xbf" + json.dumps({"model": "scripted", "messages": HELLO}).encode(),
    "broken UTF-8": b'{"model":"scr\xffipted","messages":[]}',
    "broken UTF-8 in a field": b'{"model":"scripted","messages":[],"stream_options":"\xff","stream":true}',
    "a lone surrogate": b'{"model":"\\ud800","messages":[]}',
    "a lone surrogate in tools": b'{"model":"scripted","messages":[],"tools":[{"type":"\\ud800"}]}',
    "a lone surrogate in a name": b'{"model":"scripted","messages":[],"\\udfff":1}',
    "a NUL in a name": b'{"model":"scripted","messages":[],"tools\0":[]}',
    "a comment": b'{"model":"scripted",/* */"messages":[]}',
    "a trailing comma": b'{"model":"scripted","messages":[],}',
    "single quotes": b"{'model':'scripted','messages':[]}",
    "two bodies": b'{"model":"scripted","messages":[]}{"model":"other","messages":[]}',
    "lines": b'{"model":"scripted","messages":[]}\n{"model":"other","messages":[]}',
    "a list": b'[{"model":"scripted","messages":[]}]',
    "text": b'"scripted"',
    "a depth of tools": b'{"model":"scripted","messages":[],"tools":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a depth of options": b'{"model":"scripted","stream":true,"messages":[],"stream_options":'
    + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
    "a depth of models": b'{"messages":[],"model":' + b"[" * 5000 + b"]" * 5000 + b"}",
    # Other models.
    "a model in a list": {"model": ["scripted", "other"]},
    "a fallback": {"fallbacks": [{"model": "other"}]},
    "a fallback's name": {"fallbacks": ["other"]},
    "a model with a blank": {"model": "scripted "},
    "a model in capitals": {"model": "Scripted"},
    "a model with a line break": {"model": "scripted\n"},
    "a model as a number": {"model": 7},
    "no model": {"model": None},
    "an empty model": {"model": ""},
    "the router": {"model": "openrouter/auto"},
    "a preset": {"model": "scripted@preset/web"},
    # Search, in the dialects of providers.
    "Zhipu's": {"tools": [{"type": "web_search", "web_search": {"enable": True}}]},
    "Baidu's": {"web_search": {"enable": True}},
    "Cohere's": {"connectors": [{"id": "web-search"}]},
    "Venice's": {"venice_parameters": {"enable_web_search": "on"}},
    "Alibaba's": {"enable_search": True},
    "another name": {"enable_web_search": True},
    # Endpoints that are gateways themselves.
    "fields in a field": {"extra_body": {"web_search_options": {}}},
    "headers in a field": {"extra_headers": {"x": "y"}},
    "another endpoint": {"api_base": "https://evil.example/v1"},
    "another endpoint's URL": {"base_url": "https://evil.example/v1"},
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
    "a URL in capitals": part(type="image_url", image_url={"url": "HTTPS://EVIL.EXAMPLE"}),
    "a URL after a blank": part(type="image_url", image_url={"url": " https://evil.example"}),
    "an earlier answer's sound": {"messages": [{"role": "assistant", "audio": {"id": "audio_1"}}]},
    "files of a message": part(type="file", file_ids=["file-1"]),
}  # fmt: skip
RESPONSES: dict[str, dict[str, Any] | bytes] = {
    "a response by its number": {"previous_response_id": 7},
    "a conversation's name": {"conversation": "conv_1"},
    "an item's reference in a list": {"input": [[{"type": "item_reference", "id": "msg_1"}]]},
    "an item without a type": {"input": [{"id": "rs_1", "type": None}]},
    "a prompt": {"prompt": {"id": "pmpt_1", "version": "2"}},
    "a tool in a tool": {
        "tools": [{"type": "namespace", "tools": [{"type": "namespace", "tools": [{"type": "mcp"}]}]}]
    },
    "a connector": {"tools": [{"type": "mcp", "connector_id": "connector_googledrive", "server_label": "x"}]},
    "a computer": {"tools": [{"type": "computer_use_preview"}]},
    "background as a number": {"background": 1},
    "stored as text": {"store": "true"},
    "a picture's id": item(type="input_image", file_id="file-1"),
    "a file's data as a URL": item(type="input_file", file_data=EVIL),
    "a limit as text": {"max_output_tokens": "100000", "max_tokens": 5},
}
GEMINI: dict[str, dict[str, Any] | bytes] = {
    "its other name": {"generationConfig": {"maxOutputTokens": 5}, "generation_config": {"candidateCount": "1000"}},
    "retrieval": {"tools": [{"google_search_retrieval": {}}]},
    "maps": {"tools": [{"googleMaps": {}}]},
    "a file search": {"tools": [{"fileSearch": {"fileSearchStoreNames": ["x"]}}]},
    "a file": {"contents": [{"parts": [{"file_data": {"file_uri": "files/1"}}]}]},
}
BODIES = [
    pytest.param(path, {"model": "scripted", **base, **body} if isinstance(body, dict) else body, id=f"{name}-{path}")
    for path, base, cases in (
        ("/v1/chat/completions", {"messages": HELLO}, CHAT),
        ("/v1/responses", {"input": HELLO}, RESPONSES),
        ("/v1/models/scripted:generateContent", {"contents": []}, GEMINI),
    )
    for name, body in cases.items()
]


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_a_body_is_rejected(gateway, path, body):
    front = gateway()
    status, _, answer = front.ask(path, body)
    assert status in (400, 403), answer
    assert front.model.served.calls == 0 and json.loads(answer)["error"]["message"]
    assert [call.outcome for call in front.calls()] == ["refused"]


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


def raw(front, request: bytes) -> list[bytes]:
    """The status codes that come back for these bytes."""
    with socket.create_connection(("127.0.0.1", front.port), timeout=1.0) as link:
        out = b""
        try:
            link.sendall(request)
            while more := link.recv(65536):
                out += more
        except (TimeoutError, ConnectionError):
            pass
    return [line.split()[1] for line in out.split(b"\r\n") if line.startswith(b"HTTP/1.")]


BODY = json.dumps({"model": "scripted", "messages": HELLO}).encode()
AUTHORIZED = b"Host: x\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n"


def post(
    target: bytes = b"/v1/chat/completions", extra: bytes = b"", body: bytes = BODY, end: bytes = b"\r\n"
) -> bytes:
    length = b"" if b"ength:" in extra or b"hunked" in extra else b"Content-Length: %d\r\n" % len(body)
    return b"POST %s HTTP/1.1\r\n%s%s%s%s%s" % (target, AUTHORIZED, extra, length, end, body)


@pytest.mark.parametrize(
    "request_",
    [
        post(b"/v1/chat/completions/"),
        post(b"/v1/chat//completions"),
        post(b"/v1/chat/./completions"),
        post(b"/v1/Chat/Completions"),
        post(b"/v1/chat/completions;x"),
        post(b"/v1/chat/completions%3bx"),
        post(b"/v1/chat%2fcompletions"),
        post(b"/v1/chat/completions%00"),
        post(b"/v1/chat/completions%20"),
        post(b"/v1/files"),
        post(b"/v1/responses/resp_1/cancel"),
        post(b"/v1/responses/compact"),
        post(b"/v1/realtime/sessions"),
        post(b"/v1/models/../files"),
        post(b"/v1/models/x:batchGenerateContent"),
        post(b"/v1/chat/completions?$httpMethod=DELETE"),
        post(b"/v1/chat/completions?alt=json;method=DELETE"),
        post(b"/v1/chat/completions?%6dethod=DELETE"),
        post(b"/v1/chat/completions?url=http://evil.example"),
        post(b"/v1/chat/completions?key=another"),
        post(b"http://127.0.0.1/v1/chat/completions"),
        post(b"*"),
        post(extra=b"Content-Length : 3\r\n"),
        post(extra=b"Content-Length: +3\r\n"),
        post(extra=b"Content-Length: 3, 3\r\n"),
        post(extra=b"Content-Length: 0x3\r\n"),
        post(extra=b"Content-Length: -1\r\n"),
        post(extra=b"Transfer-Encoding: xchunked\r\n"),
        post(extra=b"Transfer-Encoding: chunked, identity\r\n"),
        post(extra=b"Transfer-Encoding: \x0bchunked\r\n"),
        post(extra=b"Transfer-Encoding: chunked\r\n", body=b"zz\r\n" + BODY),
        post(extra=b"Transfer-Encoding: chunked\r\n", body=b"-1\r\n" + BODY),
        post(extra=b"Transfer-Encoding: chunked\r\n", body=b"ffffffffffffffffff\r\n" + BODY),
        post(extra=b"Content-Encoding: gzip\r\n"),
        post(extra=b"Content-Encoding: gzip\r\n", body=gzip.compress(b"[" * 10_000_000, mtime=0)),
        post(extra=b"Content-Encoding: br\r\n"),
        post(extra=b"Expect: 200-ok\r\n"),
        post(extra=b"Authorization: Bearer another\r\n"),
        post(extra=b"X-Api-Key: another\r\n"),
        post(end=b"\r\n\r\n"),
        b"POST /v1/chat/completions\r\n" + AUTHORIZED + b"\r\n",
        b"POST /v1/chat/completions HTTP/3.0\r\n" + AUTHORIZED + b"\r\n",
        b"DELETE /v1/models/scripted HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"GET /v1/chat/completions HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"GET /v1/responses/resp_1 HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"GET /v1/conversations/conv_1/items HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"GET /v1/models/scripted%2f..%2f..%2ffiles HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"LOCK /v1/models HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
        b"post /v1/chat/completions HTTP/1.1\r\n" + AUTHORIZED + b"\r\n",
    ],
)  # fmt: skip
def test_a_request_is_rejected(gateway, request_):
    front = gateway()
    assert all(status.startswith((b"4", b"5")) for status in raw(front, request_))
    assert front.model.served.calls == 0


@pytest.mark.parametrize(
    "name",
    ["Helicone-Target-Url", "X-Portkey-Custom-Host", "X-Portkey-Config", "cf-aig-authorization", "x-litellm-api-base",
     "X-HTTP-Method-Override", "X-Goog-User-Project", "OpenAI-Organization", "Cookie", "Forwarded", "X-Real-IP",
     "X-Original-URL", "Prefer", "Range", "Destination"],
)  # fmt: skip
def test_a_header_that_steers_the_endpoint_stays_behind(front_of, reply, name):
    """Some endpoints are gateways themselves, and send a call with its key wherever a header says."""
    seen = []

    def answer(handler, _):
        seen.append(dict(handler.headers))
        reply(handler, b"{}")

    with front_of(answer) as front:
        headers = {name: EVIL, "anthropic-beta": "b", "x-stainless-lang": "python"}
        assert front.ask(**headers, Content_Type="application/json; charset=utf-7")[0] == 200
    (got,) = ({key.lower(): value for key, value in each.items()} for each in seen)
    assert name.lower() not in got and got["anthropic-beta"] == "b" and got["x-stainless-lang"] == "python"
    assert got["content-type"] == "application/json"  # in whose encoding it was read
