"""Requests for a controller: files that are there until they are fulfilled."""

from __future__ import annotations

from pathlib import Path

from mlecore.runs import requests


def test_left_found_and_removed(tmp_path: Path):
    assert requests.pending(tmp_path) == {}
    requests.leave(tmp_path, "a--b--0", "retry")
    requests.leave(tmp_path, "a--b--1", "cancel")
    requests.leave(tmp_path, "a--b--1", "cancel")
    assert requests.pending(tmp_path) == {"a--b--0": "retry", "a--b--1": "cancel"}
    requests.remove(tmp_path, "a--b--1")
    requests.remove(tmp_path, "a--b--1")
    assert requests.pending(tmp_path) == {"a--b--0": "retry"}


def test_a_cancellation_comes_before_a_retry(tmp_path: Path):
    for request in ("cancel", "retry"):
        requests.leave(tmp_path, "r", request)
    assert requests.pending(tmp_path) == {"r": "cancel"}
    requests.remove(tmp_path, "r")
    assert requests.pending(tmp_path) == {}


def test_no_run_gets_a_folder_by_a_request(tmp_path: Path):
    requests.leave(tmp_path, "r", "cancel")
    assert not (tmp_path / "r").exists()


def test_a_disk_that_is_away_has_no_requests(tmp_path: Path):
    (tmp_path / "requests").write_text("not a folder")
    assert requests.pending(tmp_path) == {}
    assert requests.pending(tmp_path / "gone") == {}
