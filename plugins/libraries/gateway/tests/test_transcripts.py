"""What is kept of conversations."""

from __future__ import annotations

import json

from mlecore_gateway.transcripts import FILE, Transcripts, read_transcripts
from mlecore_testing.models import Answer

KEY = "sk-real-0123456789abcdef"


def conversation(front, turns):
    messages = []
    for number in range(turns):
        messages = [*messages, {"role": "user", "content": f"question {number} " + "long " * 200}]
        front.ask(body={"model": "scripted", "messages": messages, "temperature": 0.5})
        messages = [*messages, {"role": "assistant", "content": "answer"}]
    front.calls()
    return messages


def test_conversations_are_whole_again(gateway, tmp_path):
    front = gateway(Answer(text="answer", times=0), transcripts=True)
    messages = conversation(front, 4)
    kept = list(read_transcripts(tmp_path / FILE))
    assert [len(record["request"]["messages"]) for record in kept] == [1, 3, 5, 7]
    assert kept[-1]["request"] == {"model": "scripted", "temperature": 0.5, "messages": messages[:-1]}
    assert json.loads(kept[-1]["response"])["choices"][0]["message"]["content"] == "answer"
    assert [record["call"] for record in kept] == [1, 2, 3, 4]


def test_what_repeats_is_written_once(gateway, tmp_path):
    front = gateway(Answer(text="answer", times=0), transcripts=True)
    conversation(front, 20)
    packed = (tmp_path / FILE).stat().st_size
    assert packed < 20 * 900, "each call costs its own messages, and not the whole conversation"


def test_off_by_default(gateway, tmp_path):
    gateway().ask()
    assert not (tmp_path / FILE).exists()


def test_bounded(tmp_path):
    transcripts = Transcripts(tmp_path, limit=300)
    for number in range(20):
        transcripts.write(number, "/", b'{"messages": [%d]}' % number, 200, b"x", False)
    transcripts.close()
    assert (tmp_path / FILE).stat().st_size <= 300
    assert len(list(read_transcripts(tmp_path / FILE))) > 1
