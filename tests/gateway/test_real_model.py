"""A real model's own counts are those that the gateway logs, and its text never makes them look untrue.

MLECORE_TEST_LLM is the base URL of a server that speaks Chat Completions and answers the same to the same question.
"""

from __future__ import annotations

import json
import os
import urllib.request

import pytest

URL = os.environ.get("MLECORE_TEST_LLM", "")
PROMPTS = [
    "Hi",
    "Write a Python function that adds two numbers.",
    "Répète : 日本語 🙂 " * 5,
    "a" * 600,
    " \n\t" * 100,
]

pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.skipif(not URL, reason="MLECORE_TEST_LLM is not set")]


def test_tokens_of_a_real_model(gateway):
    with urllib.request.urlopen(f"{URL}/models", timeout=20) as answer:
        name = json.load(answer)["data"][0]["id"]
    front = gateway(endpoint=URL, models=(name,), key="")
    own = []
    for prompt in PROMPTS:
        asked = {"model": name, "messages": [{"role": "user", "content": prompt}], "max_tokens": 8, "temperature": 0}
        status, _, body = front.ask(body=asked, seconds=120)
        assert status == 200
        usage = json.loads(body)["usage"]
        own += [(usage["prompt_tokens"], usage["completion_tokens"])] * 2
        status, _, stream = front.ask(body={**asked, "stream": True}, seconds=120)
        assert status == 200 and b'"usage"' not in stream
    calls = front.calls()
    assert [(call.tokens.input, call.tokens.output) for call in calls if call.tokens] == own
    assert all((call.usage, call.outcome) == ("counted", "passed") for call in calls)
