"""A run's calls as an ATIF trajectory, in every protocol."""

from __future__ import annotations

import contextlib
import http.client
import json
from pathlib import Path

import pytest
from attrs import evolve
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.runs.planning import make_plan
from mlecore.runs.store import create_group, planned_records, write_record
from mlecore_gateway.ledger import LOG
from mlecore_gateway.settings import Price
from mlecore_gateway.trace import write_trace
from mlecore_gateway.trace.steps import Steps
from mlecore_gateway.transcripts import FILE
from mlecore_testing.models import Answer, Tool, Usage

HEAD = {"session_id": "1", "agent": {"name": "a", "version": "1"}}
ANSWERS = (
    Answer(text="I look.", tools=(Tool(name="shell", arguments={"command": "ls"}),), usage=Usage(input=100, output=20)),
    Answer(tools=(Tool(name="shell", arguments={"command": "wc"}),), usage=Usage(input=150, output=10, cached=50)),
    Answer(text="Done.", usage=Usage(input=200, output=5)),
)


def trace(folder: Path, base: str = "/v1", **more) -> tuple[dict, list[str]]:
    notes: list[str] = []
    with (folder / FILE).open("rb") as transcripts:
        document = json.loads(b"".join(write_trace(transcripts, folder / LOG, base, HEAD, notes, **more)))
    check(document)
    return document, notes


def check(document: dict) -> None:
    """What ATIF's own validator demands."""
    assert set(document) <= {"schema_version", "session_id", "agent", "steps", "final_metrics", "notes", "extra"}
    assert document["schema_version"] == "ATIF-v1.7"
    for number, step in enumerate(document["steps"], 1):
        assert step["step_id"] == number and isinstance(step["message"], str)
        if step["source"] != "agent":
            assert step["source"] in ("system", "user")
            assert not step.keys() & {"model_name", "reasoning_content", "tool_calls", "metrics"}
        calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        assert all(isinstance(call["arguments"], dict) for call in step.get("tool_calls", ()))
        for result in step.get("observation", {}).get("results", ()):
            assert result.keys() <= {"source_call_id", "content"} and isinstance(result["content"], str)
            assert result.get("source_call_id") is None or result["source_call_id"] in calls


def chat(front, stream: bool) -> None:
    messages = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "Solve it."}]
    while True:
        body = {"model": "scripted", "messages": messages}
        answer = json.loads(front.ask(body=body)[2]) if not stream else None
        if answer is None:
            said = chat_stream(front.ask(body={**body, "stream": True})[2])
        else:
            said = answer["choices"][0]["message"]
        messages = [*messages, {key: value for key, value in said.items() if value is not None}]
        if not said.get("tool_calls"):
            return
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "a b"} for call in said["tool_calls"]]
        messages = [*messages, *results]


def chat_stream(body: bytes) -> dict:
    said: dict = {"role": "assistant", "content": "", "tool_calls": []}
    for line in body.decode().splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                said["content"] += choice["delta"].get("content") or ""
                said["tool_calls"] += choice["delta"].get("tool_calls") or []
    return said


def responses(front, stream: bool) -> None:
    given: list = [{"role": "user", "content": [{"type": "input_text", "text": "Solve it."}]}]
    while True:
        body = {"model": "scripted", "instructions": "Be good.", "input": given, "stream": stream}
        answer = front.ask("/v1/responses", body)[2]
        if stream:
            answer = next(
                line[6:] for line in answer.splitlines() if line.startswith(b'data: {"type": "response.completed"')
            )
        read = json.loads(answer)
        output = (read["response"] if stream else read)["output"]
        calls = [item for item in output if item["type"] == "function_call"]
        results = [{"type": "function_call_output", "call_id": call["call_id"], "output": "a b"} for call in calls]
        given = [*given, *output, *results]
        if not calls:
            return


def messages(front, stream: bool) -> None:
    """As Claude Code does, the mark for the cache is always on the last message."""
    said: list = [("user", [{"type": "text", "text": "Solve it."}])]
    while True:
        marked = [{"role": role, "content": [dict(block) for block in blocks]} for role, blocks in said]
        marked[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        body = {"model": "scripted", "max_tokens": 99, "system": "Be good.", "messages": marked, "stream": stream}
        answer = front.ask("/v1/messages", body)[2]
        blocks = message_stream(answer) if stream else json.loads(answer)["content"]
        said.append(("assistant", blocks))
        calls = [block for block in blocks if block["type"] == "tool_use"]
        if not calls:
            return
        said.append(("user", [{"type": "tool_result", "tool_use_id": call["id"], "content": "a b"} for call in calls]))


def message_stream(body: bytes) -> list[dict]:
    blocks: list[dict] = []
    for line in body.decode().splitlines():
        event = json.loads(line[6:]) if line.startswith("data: ") else {}
        if event.get("type") == "content_block_start":
            blocks.append(event["content_block"])
        elif event.get("type") == "content_block_delta":
            delta = event["delta"]
            if "text" in delta:
                blocks[-1]["text"] += delta["text"]
            else:
                blocks[-1]["input"] = json.loads(delta["partial_json"])
    return blocks


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("talk", [chat, responses, messages])
def test_every_protocol_gives_the_same_trajectory(gateway, tmp_path, talk, stream):
    front = gateway(*ANSWERS, transcripts=True, prices={"scripted": Price(input=1.0, output=10.0)})
    talk(front, stream)
    calls = front.calls()
    document, notes = trace(tmp_path)
    assert notes == []
    steps = document["steps"]
    assert [(step["source"], step["message"]) for step in steps] == [
        *(("system", "Be good."), ("user", "Solve it.")),
        *(("agent", "I look."), ("agent", ""), ("agent", "Done.")),
    ]
    for step, command in zip(steps[2:4], ("ls", "wc"), strict=True):
        (call,) = step["tool_calls"]
        assert (call["function_name"], call["arguments"]) == ("shell", {"command": command})
        assert step["observation"] == {"results": [{"source_call_id": call["tool_call_id"], "content": "a b"}]}
    assert [step["metrics"]["prompt_tokens"] for step in steps[2:]] == [100, 150, 200]
    assert [step["metrics"]["cost_usd"] for step in steps[2:]] == [call.cost_usd for call in calls]
    assert all(step["model_name"] == "scripted" and step["llm_call_count"] == 1 for step in steps[2:])
    total = document["final_metrics"]
    assert (total["total_prompt_tokens"], total["total_completion_tokens"], total["total_steps"]) == (450, 35, 5)
    assert total["total_cached_tokens"] == 50
    assert total["total_cost_usd"] == pytest.approx(sum(call.cost_usd for call in calls))


def test_failed_calls_and_odd_answers_are_told(gateway, tmp_path):
    front = gateway(Answer(status=500), Answer(malformed=True), Answer(text="x", cut_after=1), transcripts=True)
    for number in range(3):
        with contextlib.suppress(http.client.IncompleteRead):
            front.ask(body={"model": "scripted", "messages": [{"role": "user", "content": f"{number}"}]})
    front.calls()
    document, _ = trace(tmp_path)
    told = [step["message"] for step in document["steps"] if step["source"] == "system"]
    assert told[0] == "no answer: status 500" and len(told) >= 2
    assert [step["message"] for step in document["steps"] if step["source"] == "user"] == ["0", "1", "2"]


def test_a_damaged_or_cut_file_gives_what_is_readable(gateway, tmp_path):
    front = gateway(*ANSWERS, transcripts=True)
    chat(front, stream=False)
    front.calls()
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[: len(whole) - 40])
    document, notes = trace(tmp_path)
    assert len(document["steps"]) >= 3 and notes and document["notes"] == "; ".join(notes)
    (tmp_path / FILE).write_bytes(b"no zstd")
    document, notes = trace(tmp_path)
    assert document["steps"] == [] and "damaged" in notes[0] and "3 of 3 calls" in notes[1]


def test_its_size_is_bounded(gateway, tmp_path):
    front = gateway(*ANSWERS, transcripts=True)
    chat(front, stream=False)
    front.calls()
    document, notes = trace(tmp_path, most=300)
    assert 1 <= len(document["steps"]) < 5 and "ends after 300 bytes" in notes[0]


HOSTILE = [
    None,
    {},
    {"path": "/v1/chat/completions", "request": [], "response": "{", "status": 200, "call": -1},
    {"path": "/v1/chat/completions", "messages": 7, "same": "x", "same_as": [], "call": {}, "status": 200},
    {"path": "/v1/chat/completions", "messages": [1, None, [], {"role": ["x"], "content": 5}], "same": -5, "call": 1},
    {"path": "/v1/chat/completions", "messages": [], "same": 10**9, "same_as": 1, "status": 200, "call": 2},
    {"path": "/v1/responses", "messages": [{"type": "x_call", "id": 5, "arguments": 7}], "status": 200, "call": 3},
    {"path": "/v1/messages", "messages": [{"content": [{"type": "tool_result", "content": {"text": 4}}]}], "call": 4},
    {"path": "/v1/messages", "response": 'data: {"index": [], "delta": 7}', "status": 200, "call": 5},
    {
        "path": "/v1/chat/completions",
        "response": '{"choices": [{"message": {"tool_calls": [{"id": 3}]}}]}',
        "status": 200,
    },
    {"path": "/v1/chat/completions", "response": 'data: {"choices": [{"delta": {"content": 5}}]}', "status": 200},
    {"path": "/v1/chat/completions", "response": "[" * 10**6, "status": 200},
    {"path": "/../..", "response": "{}"},
]


@pytest.mark.parametrize("record", HOSTILE)
def test_hostile_transcripts_do_no_harm(tmp_path, record):
    import zstandard

    lines = b"".join(json.dumps(each).encode() + b"\n" for each in (record, record))
    (tmp_path / FILE).write_bytes(zstandard.compress(lines))
    trace(tmp_path)


def test_steps_that_wait_for_results_are_bounded():
    """An agent may never send the results of its tools back; then they go without."""
    steps = Steps("/v1")
    given = 0
    for number in range(1, 400):
        body = {"choices": [{"message": {"content": "", "tool_calls": [{"id": f"c{number}", "function": {}}]}}]}
        record = {"path": "/v1/chat/completions", "call": number, "status": 200, "response": json.dumps(body)}
        record |= {"request": {}, "list": "messages", "messages": [], "same": 0, "same_as": None}
        given += len(list(steps.take(record, {}, {})))
    assert given == 399 - 100 and len(steps._waiting) == 100
    late = {"messages": [{"role": "tool", "tool_call_id": "c1", "content": "late"}], "request": {}}
    late |= {"path": "/v1/chat/completions", "call": 400, "status": 500, "same": 0}
    rest = [*steps.take(late, {}, {}), *steps.rest()]
    told = [step["observation"] for step in rest if "observation" in step]
    assert told == [{"results": [{"content": "late"}]}], "its step was written long ago"


@pytest.fixture
def run(gateway, tmp_path):
    """A run's folder with the logs of a conversation in which a secret was said."""
    front = gateway(*ANSWERS[:2], Answer(text="It is tok-0123456789abcdef."), transcripts=True)
    chat(front, stream=False)
    front.calls()
    made = make_plan(
        {
            "agents": [{"name": "react", "model": "scripted", "endpoint": "http://models.example.org/v1"}],
            "competitions": ["optical-digits"],
        }
    )
    (record,) = planned_records(create_group(tmp_path / "runs", "g", made))
    (record.folder / "logs").mkdir(parents=True)
    for name in (FILE, LOG):
        (tmp_path / name).rename(record.folder / "logs" / name)
    write_record(evolve(record, state="graded", given_secrets=("MY_TOKEN",)))
    return record.folder


def call(run, *words: str):
    return CliRunner().invoke(main, ["runs", "trace", "g", "--runs", str(run.parent.parent), *words])


def test_the_command_writes_it_whole_and_without_secrets(run, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "tok-0123456789abcdef")
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    printed = call(run)
    assert printed.exit_code == 0, printed.output
    document = json.loads(printed.stdout)
    check(document)
    assert document["agent"] == {
        "name": "react",
        "version": "unknown",
        "extra": {"plugin": "react"},
        "model_name": "scripted",
    }
    assert document["extra"]["competition"] == "optical-digits" and len(document["steps"]) == 5
    assert document["steps"][-1]["message"] == f"It is {'*' * 20}."
    out = tmp_path / "trajectory.json"
    assert call(run, "--out", str(out)).exit_code == 0 and out.read_bytes() == printed.stdout_bytes
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}


def test_the_command_says_what_is_missing(run, tmp_path):
    transcripts = run / "logs" / FILE
    transcripts.write_bytes(transcripts.read_bytes()[:-30])
    result = call(run)
    assert result.exit_code == 3 and "warning: 1 of 3 calls" in result.stderr
    assert "1 of 3 calls" in json.loads(result.stdout)["notes"]
    result = call(run, "--out", str(tmp_path / "none" / "x.json"))
    assert result.exit_code == 2 and "cannot be written" in result.stderr
    transcripts.rename(tmp_path / FILE)
    transcripts.symlink_to(tmp_path / FILE)  # in a bundle from elsewhere
    assert "has no logs/transcripts.jsonl.zst" in call(run).stderr
    transcripts.unlink()
    result = call(run)
    assert result.exit_code == 2 and "-G transcripts=true" in result.stderr
