"""The tiny call by which an endpoint is tried: which API it takes, and what its answer means."""

from __future__ import annotations

import pytest
from mle_backend_vm.vm_backend import Vm
from mlecore_gateway.probe import kind_of

from mlecore.controller.model_check import check_models
from mlecore.model_access import ModelAccess

from .conftest import endpoint, write_reply


def check(url: str, model: str) -> list[str]:
    said: list[str] = []
    check_models([ModelAccess(endpoint=url, models=(model,))], Vm({}), said.append)
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


def test_a_base_url_without_a_version():
    def answer(handler, body):
        write_reply(
            handler,
            b"{}" if handler.path == "/v1/messages" else b'{"detail": "Not Found"}',
            200 if handler.path == "/v1/messages" else 404,
        )

    with endpoint(answer) as url:
        assert check(url, "claude-9") == [f"claude-9 answers at {url}"]


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
