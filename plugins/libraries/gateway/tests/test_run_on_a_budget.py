"""A run that would ask its model for ever: its budget ends that, and what it hands in is graded."""

from __future__ import annotations

import json
import subprocess

import pytest
from mlecore_testing.models import Answer, Script, Usage, scripted_model

import mlecore

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

KEY = "sk-real-0123456789abcdef"
AGENT = """
import json, os, shutil, urllib.error, urllib.request
shutil.copy("data/sample_submission.csv", "submission/submission.csv")
body = json.dumps({"model": "scripted", "messages": []}).encode()
headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
while True:
    try:
        urllib.request.urlopen(request, timeout=120).read()
    except urllib.error.HTTPError as error:
        if error.code != 429:
            break
"""


def test_budget_ends_the_spending_and_the_submission_is_graded(tmp_path, monkeypatch):
    (tmp_path / "agent.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("MLECORE_VM_STATE", str(tmp_path / "state"))
    with scripted_model(
        Script(key=KEY, answers=(Answer(usage=Usage(input=900, output=100, cached=300), times=0),))
    ) as model:
        (record,) = mlecore.run(
            agent="command",
            competition="optical-digits",
            options={"argv": "python3 agent.py"},
            model="scripted",
            endpoint=model.url,
            key="MY_KEY",
            budget="0.05usd",
            price={"scripted": {"input": 10, "output": 50, "cached": 1}},
            transcripts=True,
            time_limit="10m",
            runs=tmp_path / "runs",
            data=[tmp_path / "data"],
        )
    assert (record.state, record.ended) == ("graded", "finished")
    assert json.loads((record.folder / "grade.json").read_bytes())["valid_submission"]
    calls, served = record.calls, model.served
    assert (calls.calls, calls.exhausted, calls.refused) == (5, "0.05usd", 21), "five cost 0.0565 dollars"
    assert (calls.input_tokens, calls.output_tokens, calls.cached_tokens) == (
        served.input,
        served.output,
        served.cached,
    )
    assert calls.cost_usd == pytest.approx(0.0565) and calls.prices == ("the plan",)
    assert record.usage.measured and record.usage.cost_usd == calls.cost_usd
    assert record.access.key == "MY_KEY" and (record.folder / "logs/transcripts.jsonl.zst").is_file()
    for folder in ("runs", "state"):
        found = subprocess.run(["grep", "-rla", KEY, tmp_path / folder], capture_output=True, text=True, check=False)
        assert found.stdout == ""
