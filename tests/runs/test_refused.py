"""The record lists what a relay rejected, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore.runs.refused import OTHERS, refusal_words, relay_refusals
from mlecore_jobs.relay import Log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "run" / "logs" / "relay.jsonl"
    path.parent.mkdir(parents=True)
    return path


def test_refused_connections_are_counted_by_host(log: Path) -> None:
    with log.open("w") as out:
        relay = Log(out)
        for host in ("files.example.org", "www.example.net", "files.example.org"):
            relay.write(host=host, port=443, verdict="refused: not allowed", sent=0)
        relay.write(host="api.example.com", port=443, verdict="allowed", sent=10)
        out.write('not JSON\n[1]\n{"verdict": null}\n')
    refused = relay_refusals(log)
    assert list(refused.items()) == [("files.example.org:443", 2), ("www.example.net:443", 1)]
    assert refusal_words(refused) == "the relay rejected 3 connections (files.example.org:443, www.example.net:443)"


def test_a_record_names_a_few_hosts_only(log: Path) -> None:
    with log.open("w") as out:
        for number in range(1000):
            Log(out).write(host=f"{number}.example.com", port=443, verdict="refused: not allowed")
    refused = relay_refusals(log)
    assert len(refused) == 21 and refused[OTHERS] == 980 and sum(refused.values()) == 1000
