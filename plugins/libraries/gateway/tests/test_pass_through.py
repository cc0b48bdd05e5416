"""What passes, and how: the real clients, streams byte for byte, compression, large bodies, other endpoints' shapes."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
import time

import pytest

from mlecore_testing.models import Answer
from mlecore_testing.models.script import Tool

from .conftest import CHAT, KEY, TOKEN


def test_openai_client(gateway):
    import openai

    front = gateway(Answer(text="some words", tools=(Tool(name="run", arguments={"code": "1"}),), times=0))
    client = openai.OpenAI(base_url=f"{front.url}/v1", api_key=TOKEN)
    whole = client.chat.completions.create(**CHAT)
    assert whole.choices[0].message.tool_calls[0].function.arguments == '{"code": "1"}'
    chunks = list(client.chat.completions.create(**CHAT, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "some words"
    assert not any("usage" in chunk.model_fields_set for chunk in chunks), "the report was not asked for"
    chunks = list(client.chat.completions.create(**CHAT, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert client.responses.create(model="scripted", input="hello").output_text == "some words"
    events = list(client.responses.create(model="scripted", input="hello", stream=True))
    assert events[-1].response.usage.output_tokens == whole.usage.completion_tokens
    assert len(client.embeddings.create(model="scripted", input=["a", "b"]).data) == 2
    assert [model.id for model in client.models.list()] == ["scripted"]
    served, calls = front.model.served, front.calls()
    assert len(calls) == served.calls == 7
    assert sum(call.tokens.input for call in calls if call.tokens) == served.input
    assert sum(call.tokens.output for call in calls if call.tokens) == served.output
    assert all(call.usage == "counted" for call in calls if call.method == "POST")


@pytest.mark.slow
def test_anthropic_client(gateway):
    import anthropic

    front = gateway(Answer(text="some words", times=0))
    client = anthropic.Anthropic(base_url=front.url, api_key=TOKEN)
    asked = {"model": "scripted", "max_tokens": 9, "messages": CHAT["messages"]}
    assert client.messages.create(**asked).content[0].text == "some words"
    with client.messages.stream(**asked) as stream:
        assert "".join(stream.text_stream) == "some words"
    assert client.messages.count_tokens(model="scripted", messages=CHAT["messages"]).input_tokens == 2
    first, second, third = front.calls()
    assert first.tokens == second.tokens and first.tokens.output == 3
    assert (third.usage, third.tokens) == ("none", None), "counting tokens spends none"


STREAM = b'data: {"model":"scripted","choices":[{"delta":{"content":"a"}}],"usage":null}\n\n'
REPORT = b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}\r\n\r\n'
DONE = b": a comment\n\ndata: [DONE]\n\n"


def test_stream_byte_for_byte(front_of):
    """What the client asked for is not touched, however it is cut into pieces."""
    sent = STREAM + REPORT + DONE

    def answer(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for start in range(0, len(sent), 7):
            piece = sent[start : start + 7]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")

    with front_of(answer) as front:
        _, headers, body = front.ask(body={**CHAT, "stream": True, "stream_options": {"include_usage": True}})
        assert body == sent
        assert headers["Content-Type"] == "text/event-stream; charset=utf-8"
        _, _, body = front.ask(body={**CHAT, "stream": True})
        assert body == STREAM.replace(b',"usage":null', b"") + DONE, "and without the report where it was not"
        assert [call.tokens.output for call in front.calls()] == [4, 4]


def test_pieces_come_at_once(front_of):
    """An event is not held back until the next one."""
    go = threading.Event()

    def answer(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(STREAM)
        handler.wfile.flush()
        go.wait(60)
        handler.wfile.write(DONE)
        handler.close_connection = True

    with front_of(answer) as front:
        connection = http.client.HTTPConnection("127.0.0.1", front.port, timeout=60)
        body = json.dumps({**CHAT, "stream": True})
        connection.request("POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {TOKEN}"})
        response = connection.getresponse()
        assert response.read1(1000).startswith(b"data:")
        go.set()
        assert response.read().endswith(DONE)


def test_gzip_passes_and_is_counted(front_of, reply):
    plain = json.dumps(
        {"model": "m", "usage": {"prompt_tokens": 5, "completion_tokens": 60}, "text": "x" * 9999}
    ).encode()
    packed = gzip.compress(plain)
    seen = []

    def answer(handler, _):
        seen.append(handler.headers["Accept-Encoding"])
        reply(handler, packed, Content_Encoding="gzip")

    with front_of(answer) as front:
        _, headers, body = front.ask(Accept_Encoding="gzip, br, zstd")
        assert body == packed and headers["Content-Encoding"] == "gzip"
        assert seen == ["gzip"], "what the gateway cannot read is not asked for"
        assert front.calls()[0].tokens.output == 60


def test_gzipped_request_is_read(gateway):
    front = gateway()
    status, _, _ = front.ask(body=gzip.compress(json.dumps(CHAT).encode()), Content_Encoding="gzip")
    assert status == 200
    assert front.model.served.requests[0]["body"] == CHAT


@pytest.mark.parametrize(
    ("header", "given", "sent"),
    [
        ("Authorization", f"Bearer {TOKEN}", f"Bearer {KEY}"),
        ("x-api-key", TOKEN, KEY),
        ("api-key", TOKEN, KEY),
        ("x-goog-api-key", TOKEN, KEY),
    ],
)
def test_key_stands_where_the_token_stood(front_of, header, given, sent, reply):
    seen = []

    def answer(handler, _):
        seen.append((handler.headers[header], handler.path))
        reply(handler, b"{}")

    with front_of(answer) as front:
        front.ask(**{"Authorization": None, header: given})
        front.ask(f"/v1/models?limit=1&key={TOKEN}&after=%20", None, Authorization=None)
    assert seen[0] == (sent, "/v1/chat/completions")
    assert seen[1][1] == f"/v1/models?limit=1&after=%20&key={KEY}"


def test_azure_paths(front_of, reply):
    seen = []

    def answer(handler, _):
        seen.append(handler.path)
        reply(handler, b'{"usage": {"prompt_tokens": 1, "completion_tokens": 1}}')

    with front_of(answer, path="", models=("my-deployment",)) as front:
        good = "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
        body = {"messages": []}
        assert front.ask(good, body, Authorization=None, api_key=TOKEN)[0] == 200
        assert front.ask(good.replace("my-", "other-"), body, Authorization=None, api_key=TOKEN)[0] == 403
        assert seen == [good]
        assert front.calls()[0].asked == "my-deployment"


def test_gemini(front_of, reply):
    def answer(handler, _):
        usage = {
            "promptTokenCount": 7,
            "candidatesTokenCount": 2,
            "thoughtsTokenCount": 3,
            "cachedContentTokenCount": 4,
        }
        reply(handler, json.dumps([{"modelVersion": "g-1"}, {"modelVersion": "g-1", "usageMetadata": usage}]).encode())

    with front_of(answer, path="/v1beta", models=("g",)) as front:
        assert front.ask("/v1beta/models/g:streamGenerateContent", {"contents": []})[0] == 200
        (call,) = front.calls()
    assert (call.asked, call.answered) == ("g", "g-1")
    assert (call.tokens.input, call.tokens.output, call.tokens.reasoning, call.tokens.cached) == (7, 5, 3, 4)


def test_no_key_is_sent_where_there_is_none(front_of, reply):
    seen = []

    def answer(handler, _):
        seen.append(handler.headers["Authorization"])
        reply(handler, b"{}")

    with front_of(answer, key="") as front:
        front.ask()
    assert seen == [None]


def test_errors_pass_unchanged(gateway):
    front = gateway(Answer(status=429, retry_after=7, text="slow down"), Answer(status=500, text="oops"))
    status, headers, body = front.ask()
    assert (status, headers["Retry-After"]) == (429, "7")
    assert json.loads(body)["error"]["message"] == "slow down"
    assert front.ask()[0] == 500
    assert front.model.served.calls == 2, "no hidden retries"
    assert [call.usage for call in front.calls()] == ["none", "none"]


def test_retries_are_counted(gateway):
    front = gateway(
        Answer(status=429, retry_after=0.2), Answer(status=503, retry_after=0), Answer(text="ok"), retries=2
    )
    began = time.monotonic()
    assert front.ask()[0] == 200
    assert time.monotonic() - began >= 0.2
    (call,) = front.calls()
    assert (call.retries, call.status) == (2, 200) and call.waited >= 0.2


def test_server_that_knows_no_stream_options(front_of, reply):
    def answer(handler, body):
        if b"stream_options" in body:
            reply(handler, b'{"error": "unknown field stream_options"}', 400)
        else:
            reply(handler, STREAM + DONE, Content_Type="text/event-stream")

    with front_of(answer) as front:
        for _ in range(2):
            assert front.ask(body={**CHAT, "stream": True})[2] == STREAM + DONE
        assert [(call.status, call.usage, call.retries) for call in front.calls()] == [(200, "unknown", 0)] * 2


def test_redirect_of_the_endpoint_leads_through_the_gateway(front_of, reply):
    def answer(handler, _):
        host = handler.headers["Host"]
        reply(handler, b"", 307, Location=f"http://{host}/v1/models/")

    with front_of(answer) as front:
        status, headers, _ = front.ask("/v1/models", None)
    assert (status, headers["Location"]) == (307, "/v1/models/")
