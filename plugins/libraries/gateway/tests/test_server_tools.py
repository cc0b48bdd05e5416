"""Tools of the model's provider: rejected under a closed network, or allowed, counted and paid for."""

from __future__ import annotations

import json

import pytest

from mlecore_gateway import server_tools
from mlecore_gateway.prices import Prices
from mlecore_gateway.settings import Price
from mlecore_testing.models import Answer, Usage

from .conftest import TOKEN

HELLO = [{"role": "user", "content": "hello"}]
FUNCTION = {"type": "function", "name": "run", "parameters": {"type": "object", "properties": {"url": {}}}}
PNG = "data:image/png;base64,iVBORw0KGgo="


def parts(*content):
    return [{"role": "user", "content": list(content)}]


RESPONSES = {
    "web_search": {"tools": [{"type": "web_search"}]},
    "web_search preview": {"tools": [FUNCTION, {"type": "web_search_preview_2025_03_11"}]},
    "code_interpreter": {"tools": [{"type": "code_interpreter", "container": {"type": "auto"}}]},
    "mcp": {"tools": [{"type": "mcp", "server_label": "x", "server_url": "https://evil.example"}]},
    "file_search": {"tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}]},
    "image_generation": {"tools": [{"type": "image_generation"}]},
    "programmatic": {"tools": [{"type": "programmatic_tool_calling"}]},
    "hosted shell": {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]},
    "hosted tool search": {"tools": [{"type": "tool_search"}]},
    "in a namespace": {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]}]},
    "tomorrow's": {"tools": [{"type": "telepathy"}]},
    "background": {"background": True},
    "stored": {"store": True},
    "an earlier response": {"previous_response_id": "resp_1"},
    "a conversation": {"conversation": {"id": "conv_1"}},
    "a stored prompt": {"prompt": {"id": "pmpt_1"}},
    "plugins": {"plugins": [{"id": "web"}]},
    "a stored item": {"input": [*HELLO, {"type": "item_reference", "id": "msg_1"}]},
    "a stored item without its type": {"input": [*HELLO, {"id": "msg_1"}]},
    "tools in the conversation": {"input": [{"type": "additional_tools", "tools": [{"type": "web_search"}]}]},
    "an image's URL": {"input": parts({"type": "input_image", "image_url": "https://evil.example/x.png"})},
    "a file's URL": {"input": parts({"type": "input_file", "file_url": "https://evil.example/x.pdf"})},
    "an escaped URL": b'{"model":"scripted","input":[{"role":"user","content":[{"type":"input_file",'
    b'"file\\u005furl":"https://evil.example/x.pdf"},{"type":"input_text","text":"' + b"x" * 300 + b'"}]}]}',
    "a stored file": {"input": parts({"type": "input_file", "file_id": "file-1"})},
    "another spelling": {"Tools": [{"type": "web_search"}]},
}
MESSAGES = {
    "web_search": {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
    "web_fetch": {"tools": [{"type": "web_fetch_20260318", "name": "web_fetch"}]},
    "code_execution": {"tools": [{"type": "code_execution_20250825", "name": "code_execution"}]},
    "an MCP server": {"mcp_servers": [{"type": "url", "url": "https://evil.example", "name": "x"}]},
    "an MCP toolset": {"tools": [{"type": "mcp_toolset", "mcp_server_name": "x"}]},
    "a container": {"container": "container_1"},
    "skills": {"container": {"skills": [{"type": "anthropic", "skill_id": "xlsx"}]}},
    "a thread": {"thread": {"type": "create"}},
    "a document's URL": {
        "messages": parts({"type": "document", "source": {"type": "url", "url": "https://evil.example"}})
    },
    "an image's URL in a tool's result": {
        "messages": parts(
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [{"type": "image", "source": {"type": "url", "url": "https://evil.example/x.png"}}],
            }
        )
    },
    "a stored file": {"messages": parts({"type": "document", "source": {"type": "file", "file_id": "file_1"}})},
    "a file of a container": {"messages": parts({"type": "container_upload", "file_id": "file_1"})},
    "a tool in the conversation": {
        "messages": parts(
            {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"type": "web_fetch_20260318"}}}
        )
    },
}
CHAT = {
    "web_search_options": {"web_search_options": {}},
    "a search tool": {"tools": [{"type": "openrouter:web_search"}]},
    "Kimi's": {"tools": [{"type": "builtin_function", "function": {"name": "$web_search"}}]},
    "plugins": {"plugins": [{"id": "web"}]},
    "xAI's": {"search_parameters": {"mode": "auto"}},
    "stored": {"store": True},
    "an image's URL": {"messages": parts({"type": "image_url", "image_url": {"url": "https://evil.example/x.png"}})},
    "a file": {"messages": parts({"type": "file", "file": {"file_id": "file-1"}})},
    "a file's URL": {"messages": parts({"type": "file", "file": {"file_data": "https://evil.example/x.pdf"}})},
}
GEMINI = {
    "google_search": {"tools": [{"google_search": {}}]},
    "googleSearch": {"tools": [{"functionDeclarations": [{"name": "f"}]}, {"googleSearch": {}}]},
    "url_context": {"tools": [{"urlContext": {}}]},
    "code_execution": {"tools": [{"codeExecution": {}}]},
    "a file": {"contents": [{"parts": [{"fileData": {"fileUri": "https://youtu.be/x"}}]}]},
    "cached content": {"cachedContent": "cachedContents/1"},
}
FORBIDDEN = [
    pytest.param(path, {"model": "scripted", **base, **body} if isinstance(body, dict) else body, id=f"{path}: {name}")
    for path, base, cases in (
        ("/v1/responses", {"input": HELLO}, RESPONSES),
        ("/v1/messages", {"messages": HELLO, "max_tokens": 9}, MESSAGES),
        ("/v1/messages/count_tokens", {"messages": HELLO}, {"count": MESSAGES["an MCP server"]}),
        ("/v1/chat/completions", {"messages": HELLO}, CHAT),
        ("/v1/models/scripted:generateContent", {"contents": []}, GEMINI),
    )
    for name, body in cases.items()
]


@pytest.mark.parametrize(("path", "body"), FORBIDDEN)
def test_what_the_provider_would_do_is_rejected(closed, path, body):
    status, headers, answer = closed.ask(path, body)
    assert status == 400 and closed.model.served.calls == 0
    error = json.loads(answer)["error"]
    if b"spelling" not in answer and b"written otherwise" not in answer:
        assert "has no access to tools and storage of the model's provider" in error["message"]
    assert headers["x-should-retry"] == "false"


@pytest.mark.parametrize("before", [512 * 1024 - 240, 512 * 1024 - 230, 512 * 1024 - 200, 1024 * 1024])
def test_a_url_in_a_large_message(gateway, before):
    """Large messages are read in parts."""
    url = {"type": "image_url", "image_url": {"url": "https://evil.example/x.png"}}
    front = gateway()
    body = {"model": "scripted", "messages": parts({"type": "text", "text": "x" * before}, url)}
    assert front.ask(body=body)[0] == 400 and front.model.served.calls == 0


@pytest.mark.parametrize("at", [-15, -8, -1, 1])
def test_a_sign_between_two_parts(at):
    text = b"x" * (server_tools._PART + at) + b'"file_id"' + b"x" * 10
    assert server_tools._has_sign(memoryview(text))


ALLOWED = {
    "/v1/responses": {
        "input": [
            *parts({"type": "input_image", "image_url": PNG}, {"type": "input_text", "text": "see https://x.example"}),
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"url": "https://x.example"}'},
            {"type": "function_call_output", "call_id": "c", "output": "https://x.example"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        ],
        "tools": [
            FUNCTION,
            {"type": "custom", "name": "c"},
            {"type": "local_shell"},
            {"type": "apply_patch"},
            {"type": "shell", "environment": {"type": "local"}},
            {"type": "tool_search", "execution": "client"},
            {"type": "namespace", "name": "n", "tools": [FUNCTION]},
        ],
        "store": False,
        "background": False,
        "previous_response_id": None,
        "include": ["reasoning.encrypted_content"],
    },
    "/v1/messages": {
        "messages": [
            {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "iVBO"}}]},
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": "t",
                        "name": "f",
                        "input": {"type": "url", "url": "http://x", "tools": [1]},
                    }
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": '{"file_id": 1}'}]},
        ],
        "max_tokens": 9,
        "tools": [
            {"name": "f", "input_schema": {"type": "object", "properties": {"url": {"type": "string"}}}},
            {"type": "custom", "name": "g", "input_schema": {}},
            {"type": "bash_20250124", "name": "bash"},
            {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
            {"type": "computer_20251124", "name": "computer"},
            {"type": "memory_20250818", "name": "memory"},
        ],
        "mcp_servers": [],
        "container": None,
    },
    "/v1/chat/completions": {
        "messages": [
            *parts({"type": "image_url", "image_url": {"url": PNG}}, {"type": "text", "text": '"file_id": "x"'}),
            {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        ],
        "tools": [{"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "c"}}],
        "plugins": [],
        "web_search_options": None,
        "search_parameters": {"mode": "off"},
        "store": False,
    },
    "/v1/embeddings": {"input": ["https://x.example", "tools"]},
}


@pytest.mark.parametrize("path", ALLOWED)
def test_tools_of_the_client_pass(gateway, path):
    front = gateway()
    status, _, answer = front.ask(path, {"model": "scripted", **ALLOWED[path]})
    assert status == 200, answer
    sent = front.model.served.requests[0]["body"]
    assert sent == {"model": "scripted", **ALLOWED[path]}
    assert front.calls()[0].server_tools == {}


def test_responses_are_not_stored_unless_allowed(gateway):
    """The provider keeps responses by default; what is not kept is only of use with its reasoning."""
    import openai

    front = gateway(Answer(text="x", times=0))
    client = openai.OpenAI(base_url=f"{front.url}/v1", api_key=TOKEN)
    client.responses.create(model="scripted", input="hello")
    client.responses.create(model="scripted", input="hello", store=False)
    first, second = (each["body"] for each in front.model.served.requests)
    assert first["store"] is False and first["include"] == ["reasoning.encrypted_content"]
    assert second["store"] is False and "include" not in second


def test_a_model_without_reasoning_is_asked_again(front_of, reply):
    bodies = []

    def answer(handler, body):
        bodies.append(json.loads(body))
        if "include" in bodies[-1]:
            reply(handler, b'{"error": {"message": "Encrypted content is not supported with this model."}}', 400)
        else:
            reply(handler, b'{"model": "scripted", "usage": {"input_tokens": 1, "output_tokens": 2}}')

    with front_of(answer) as front:
        statuses = [front.ask("/v1/responses", {"model": "scripted", "input": "hello"})[0] for _ in range(2)]
        assert [call.retries for call in front.calls()] == [0, 0]
    assert statuses == [200, 200] and [("include" in body, body["store"]) for body in bodies] == [
        (True, False),
        (False, False),
        (False, False),
    ]


USAGE = Usage(input=1000, output=100)
PRICES = {"scripted": Price(input=1, output=10)}  # 0.002 dollars a call


@pytest.mark.parametrize("stream", [False, True])
def test_allowed_tools_are_counted_and_paid_for(gateway, stream):
    answer = Answer(text="x", usage=USAGE, server_tools={"web_search": 3}, times=0)
    front = gateway(answer, server_tools=True, prices=PRICES, fees={"web_search": 0.01})
    asked = {"model": "scripted", "stream": stream}
    front.ask("/v1/responses", {**asked, "input": "x", "tools": [{"type": "web_search"}, {"type": "code_interpreter"}]})
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    front.ask("/v1/messages", {**asked, "messages": HELLO, "max_tokens": 9, "tools": [search]})
    first, second = front.calls()
    assert first.server_tools == {"web_search": 3, "code_interpreter": 0}
    assert second.server_tools == {"web_search": 3}
    for call in (first, second):
        assert call.fees_usd == pytest.approx(0.03) and call.cost_usd == pytest.approx(0.032)


def test_a_fee_that_nobody_knows_is_not_zero(gateway):
    front = gateway(Answer(text="x", usage=USAGE, server_tools={"telepathy": 1}), server_tools=True, prices=PRICES)
    front.ask("/v1/responses", {"model": "scripted", "input": "x", "tools": [{"type": "telepathy"}]})
    (call,) = front.calls()
    assert call.server_tools == {"telepathy": 1} and call.tokens.input == 1000
    assert call.fees_usd is None and call.cost_usd is None


def test_money_for_a_tool_without_a_price_is_refused(gateway):
    front = gateway(server_tools=True, prices=PRICES, budgets=("5usd",))
    body = {"model": "scripted", "input": "x", "tools": [{"type": "image_generation"}]}
    status, _, answer = front.ask("/v1/responses", body)
    assert status == 403 and b"no price is known for image_generation" in answer


def test_background_work_counts_in_full(front_of, reply):
    queued = b'{"model": "scripted", "status": "queued", "usage": null}'
    with front_of(lambda handler, _: reply(handler, queued), server_tools=True) as front:
        front.ask("/v1/responses", {"model": "scripted", "input": "x", "background": True, "max_output_tokens": 500})
        (call,) = front.calls()
    assert call.usage == "unknown" and call.estimate.output == 500 and call.server_tools == {"background": 1}


def test_fees_by_the_published_list():
    openai_prices = Prices("https://api.openai.com/v1", {})
    assert openai_prices.fee(("gpt-5",), "web_search", 3)[0] == pytest.approx(0.03)
    assert openai_prices.fee(("gpt-5",), "file_search", 4)[0] == pytest.approx(0.01)
    assert openai_prices.fee(("gpt-5",), "image_generation", 1) is None
    anthropic_prices = Prices("https://api.anthropic.com", {})
    fee, source = anthropic_prices.fee(("claude-sonnet-4-5",), "web_search", 2)
    assert fee == pytest.approx(0.02) and "data as of 20" in source
    assert anthropic_prices.fee(("claude-sonnet-4-5",), "code_execution", 1) is None
    assert Prices("http://localhost:1/v1", {}).fee(("nobody-knows-it",), "web_search", 1) is None


def test_a_models_fallbacks_are_models(gateway):
    body = {"model": "scripted", "messages": HELLO, "max_tokens": 9}
    front = gateway()
    assert front.ask("/v1/messages", {**body, "fallbacks": [{"model": "other"}]})[0] == 403
    assert front.ask("/v1/messages", {**body, "fallbacks": "default"})[0] == 403
    assert front.ask("/v1/messages", {**body, "fallbacks": [{"model": "scripted"}]})[0] == 200
