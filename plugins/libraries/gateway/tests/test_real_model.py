"""A real model: the gateway's counts are its own, and its answers make no agent, measure or judge crash or hang.

MLECORE_TEST_LLM is the base URL of a server that speaks Chat Completions and answers the same to the same question.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

import mlecore
from mlecore.cli import main
from mlecore.runs.findings import read_findings
from mlecore.runs.store import read_record

URL = os.environ.get("MLECORE_TEST_LLM", "")
READ, WRITTEN = 600, 24  # characters of a message, tokens of an answer: two busy cores take seconds for so many
PROMPTS = ["Hi", "Répète : 日本語 🙂 " * 5, " \n\t" * 30]
FEW = {"aide": {"steps": "1", "packages": "few"}, "react": {"steps": "1"}}  # the others are tried with scripted models

pytestmark = [
    pytest.mark.network,
    pytest.mark.slow,
    pytest.mark.xdist_group("llm"),  # it answers one call at a time
    pytest.mark.skipif(not URL, reason="MLECORE_TEST_LLM is not set"),
]


@pytest.fixture(scope="module")
def name() -> str:
    with urllib.request.urlopen(f"{URL}/models", timeout=300) as answer:
        return str(json.load(answer)["data"][0]["id"])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real")
    folder.chmod(0o755)  # users of sandboxes come through
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLECORE_VM_STATE", str(folder / "state"))
        yield folder


@pytest.fixture
def brief(endpoint_of, reply):
    """The model with limits on what it reads and writes: (base URL, what it has counted, as pairs)."""
    counted: list[tuple[int, int]] = []

    def pass_on(handler, body: bytes) -> None:
        if body:
            asked = {**json.loads(body), "max_tokens": WRITTEN, "max_completion_tokens": WRITTEN}
            for message in asked.get("messages", ()):
                content = message.get("content") or ""
                text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
                message["content"] = text[-READ:]
            if "prompt" in asked:
                asked["prompt"] = asked["prompt"][:READ]
            body = json.dumps(asked).encode()
        request = urllib.request.Request(URL.removesuffix("/v1") + handler.path, body or None)
        try:
            with urllib.request.urlopen(request, timeout=900) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        usage = json.loads(text).get("usage")
        if usage:
            counted.append((usage["prompt_tokens"], usage["completion_tokens"]))
        reply(handler, text, status)

    with endpoint_of(pass_on) as url:
        yield f"{url}/v1", counted


def test_tokens_of_a_real_model(gateway, name):
    front = gateway(endpoint=URL, models=(name,), key="")
    own = []
    for prompt in PROMPTS:
        asked = {"model": name, "messages": [{"role": "user", "content": prompt}], "max_tokens": 4, "temperature": 0}
        status, _, body = front.ask(body=asked, seconds=600)
        assert status == 200
        usage = json.loads(body)["usage"]
        own += [(usage["prompt_tokens"], usage["completion_tokens"])] * 2
        status, _, stream = front.ask(body={**asked, "stream": True}, seconds=600)
        assert status == 200 and b'"usage"' not in stream
    calls = front.calls()
    assert [(call.tokens.input, call.tokens.output) for call in calls if call.tokens] == own
    assert all((call.usage, call.outcome) == ("counted", "passed") for call in calls)


@pytest.mark.sandbox
@pytest.mark.parametrize("agent", sorted(FEW))
def test_an_agent_ends_for_a_reason_that_it_names(agent, name, brief, place):
    url, counted = brief
    (record,) = mlecore.run(
        agent=agent,
        competition="optical-digits",
        options={"pip": "", **FEW[agent]},
        model=name,
        endpoint=url,
        model_check=False,
        detect=False,
        time_limit="20m",
        runs=place / "runs",
        data=[place / "data"],
    )
    assert (record.state, record.ended) == ("graded", "finished"), record.reason
    assert record.outcome and record.outcome.kind in ("steps_used", "gave_up", "time_up"), record.outcome
    assert record.calls and not record.calls.unknown and record.calls.failed == 0
    own = tuple(map(sum, zip(*counted, strict=True)))
    assert (record.calls.calls, record.calls.input_tokens, record.calls.output_tokens) == (len(counted), *own)
    assert record.usage_difference == ""
    if agent == "react":
        counted.clear()
        judge = {"endpoint": url, "model": name, "budget": "3000", "chunk-chars": "3000", "second-pass": "false"}
        words = [word for option, value in judge.items() for word in ("-D", f"rules.{option}={value}")]
        done = CliRunner().invoke(main, ["detect", record.group, "--runs", str(place / "runs"), *words])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert counted and "rules" in read_findings(read_record(record.folder))[0], done.output


@pytest.mark.parametrize("measure", ["text", "answers"])
def test_familiarity_is_measured(measure, name, brief, place):
    data = ["--data", str(place / "data")]
    assert CliRunner().invoke(main, ["prepare", "optical-digits", *data]).exit_code == 0
    texts = place / "texts"
    texts.mkdir(exist_ok=True)
    (texts / "optical-digits.md").write_text("Predict which digit an image of 8 by 8 pixels shows.")
    words = ["familiarity", "--model", name, "--endpoint", brief[0], "--measure", measure, "--rows", "3"]
    words += ["--competition", "optical-digits", "--journal", str(place / f"{measure}.jsonl"), "--json", *data]
    done = CliRunner().invoke(main, [*words, *(["--texts", str(texts)] if measure == "text" else [])])
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["competitions"]
    assert found["measure"] == measure and 0 <= found["value"] <= 1 and brief[1]
