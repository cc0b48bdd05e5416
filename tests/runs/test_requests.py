"""Requests for a controller: files that are there until they are fulfilled."""

from __future__ import annotations

from pathlib import Path

from mlecore.runs import requests


def test_a_cancellation_comes_before_a_retry(tmp_path: Path):
    for request in ("cancel", "retry"):
        requests.leave(tmp_path, "r", request)
    assert requests.pending(tmp_path) == {"r": "cancel"}
    requests.remove(tmp_path, "r")
    assert requests.pending(tmp_path) == {}
