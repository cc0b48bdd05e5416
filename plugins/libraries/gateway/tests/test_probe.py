"""The tiny call by which an endpoint is tried: which API it takes, and what its answer means."""

from __future__ import annotations

import contextlib
import json

import pytest

from mlecore.controller.model_check import check_models
from mlecore.errors import EndpointError, UsageError
from mlecore.model.model_access import ModelAccess
from mlecore_gateway.probe import kind_of
from mlecore_sandboxes.machine import Machine

from .conftest import endpoint, write_reply


def check(url: str, model: str) -> list[str]:
    said: list[str] = []
    check_models([ModelAccess(endpoint=url, models=(model,))], Machine({}), said.append)
    return said


def test_a_model_that_only_one_api_has():
    """As OpenAI's models that are only in Responses; and a plan may name models as LiteLLM does."""
    asked = []

    def answer(handler, body):
        asked.append((handler.path, b'"openai/' in body))
        if handler.path != "/v1/responses" or b'"openai/' in body:
            write_reply(handler, b'{"error": {"message": "This model is not supported here."}}', 404)
        else:
            write_reply(handler, b'{"output": []}')

    with endpoint(answer) as url:
        assert check(f"{url}/v1", "openai/o9-pro") == [f"openai/o9-pro answers at {url}/v1"]
    assert asked[-1] == ("/v1/responses", False)


def only(*paths: str):
    """An endpoint that answers at these paths, and knows no other."""

    def answer(handler, body):
        known = handler.path.partition("?")[0] in paths
        found = {"choices": [{"message": {"content": "OK"}}]} if known else {"error": {"message": "not found"}}
        write_reply(handler, json.dumps(found).encode(), 200 if known else 404)

    return endpoint(answer)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/messages"),
        ("/anthropic", "/anthropic/v1/messages"),
        ("/api/v1", "/api/v1/responses"),
        ("", "/openai/deployments/m/chat/completions"),
        ("/openai/deployments/m?api-version=2024-10-21", "/openai/deployments/m/chat/completions"),
        ("/models?api-version=2024-05-01-preview", "/models/chat/completions"),
        ("", "/v1beta/models/m:generateContent"),
    ],
)
def test_base_urls_that_clients_can_use(base, path):
    with only(path) as url:
        assert check(url + base, "m") == [f"m answers at {url}{base}"]


@pytest.mark.parametrize(
    ("base", "path", "instead"),
    [
        ("/v1/v1", "/v1/chat/completions", "/v1"),
        ("/v1/messages", "/v1/messages", "/v1"),
        ("/v1", "/openai/v1/chat/completions", "/openai/v1"),
        ("/api", "/v1/chat/completions", "/v1"),
        ("", "/api/chat", "/v1"),
        ("", "/model/m/converse", "bedrock-runtime.REGION.amazonaws.com/openai/v1"),
    ],
)
def test_a_base_url_that_cannot_work_names_one_that_can(base, path, instead):
    with only(path) as url, pytest.raises(UsageError) as caught:
        check(url + base, "m")
    found = caught.value.fix.partition("--endpoint ")[2].split()[0]
    assert found == (url + instead if instead.startswith("/") else f"https://{instead}")


def test_the_query_of_azures_base_url_is_added_to_calls(front_of, reply):
    seen = []

    def answer(handler, body):
        seen.append(handler.path)
        reply(handler, b"{}")

    with front_of(answer, path="/openai/deployments/m/?api-version=2024-10-21", models=("m",)) as front:
        front.ask("/openai/deployments/m/chat/completions", {"model": "m", "messages": []})
        front.ask("/openai/deployments/m/chat/completions?api-version=1", {"model": "m"})
    assert [path.partition("?")[2] for path in seen] == ["api-version=2024-10-21", "api-version=1"]


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        (b'{"error": {"code": 429, "message": "Slow down"}}', None, "busy"),
        (b'{"error": {"code": 401, "message": "No auth"}}', UsageError, "rejects the key"),
        (b'{"code": 404, "message": "model m not found"}', UsageError, "does not have the model"),
        (b': PROCESSING\n\ndata: {"error": "boom"}\n\n', EndpointError, "boom"),
        (b'\xef\xbb\xbf{"choices": []}', None, "answers"),
    ],
)
def test_an_error_with_status_200(body, error, words, monkeypatch):
    monkeypatch.setattr("mlecore.controller.model_check._AGAIN", 0.01)
    outcome = contextlib.nullcontext() if error is None else pytest.raises(error, match=words)
    with endpoint(lambda handler, _: write_reply(handler, body)) as url, outcome:
        assert words in check(f"{url}/v1", "m")[0]


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (404, '{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}', "model"),
        (404, '{"error":{"message":"Invalid URL (POST /v1/chat)","type":"invalid_request_error"}}', "path"),
        (404, '{"detail":"Not Found"}', "path"),
        (404, '{"error":{"code":"DeploymentNotFound","message":"The API deployment does not exist."}}', "model"),
        (404, '{"error":{"message":"This model is only supported in v1/responses"}}', "model"),
        (404, '{"error":{"message":"model \\"x\\" not found, try pulling it first"}}', "model"),
        (400, '{"object":"error","message":"Invalid model: x","type":"invalid_model"}', "model"),
        (400, '{"error":{"message":"Model Not Exist"}}', "model"),
        (400, '{"error":{"message":"x is not a valid model ID","code":400}}', "model"),
        (400, '{"error":{"message":"\'max_tokens\' is not supported with this model. Use another"}}', "answers"),
        (400, '{"error":{"message":"max_tokens must be at least 16"}}', "answers"),
        (429, '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}', "quota"),
        (429, '{"error":{"status":"RESOURCE_EXHAUSTED","message":"current quota: 10 PerMinute"}}', "busy"),
        (403, '{"error":{"message":"Country not supported"}}', "key"),
        (529, "", "failing"),
        (301, "", "path"),
        (200, "<html>Log in</html>", "path"),
        (200, "{}", "answers"),
    ],
)  # fmt: skip
def test_what_providers_say(status, text, kind):
    assert kind_of(status, text) == kind
