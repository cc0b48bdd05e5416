"""Reading what an agent reported of its end; the file is the agent's, so it may be anything."""

from __future__ import annotations

import os

import pytest

from mlecore.model.agents import OUTCOMES, Outcome
from mlecore.runs.outcome import read_outcome


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "run" / "logs"
    folder.mkdir(parents=True)
    return folder


def read(logs):
    return read_outcome(logs, below=logs.parent)


@pytest.mark.parametrize("kind", OUTCOMES)
def test_each_word_is_known_with_and_without_a_detail(logs, kind):
    (logs / "outcome").write_text(kind)
    assert read(logs) == Outcome(kind=kind)
    (logs / "outcome").write_text(f"\n {kind} :  so it was: yes \nnot this\n")
    assert read(logs) == Outcome(kind=kind, detail="so it was: yes")
    assert str(read(logs)) == f"{OUTCOMES[kind]} (so it was: yes)"


def test_other_words_are_kept_as_they_are(logs):
    (logs / "outcome").write_text("I went home: it was late")
    assert read(logs) == Outcome(kind="other", detail="I went home: it was late")
    assert str(read(logs)) == "I went home: it was late"


def test_hostile_content_is_short_and_printable(logs):
    (logs / "outcome").write_bytes(b"gave_up: \x1b[2J\xff\xfe\xe2\x80\xae" + b"x" * 10**7)
    outcome = read(logs)
    assert outcome is not None and outcome.kind == "gave_up"
    assert outcome.detail.isprintable() and len(outcome.detail) == 200


def test_what_is_no_file_of_the_run_is_not_read(logs, tmp_path):
    assert read(logs) is None
    (logs / "outcome").mkdir()
    assert read(logs) is None
    (logs / "outcome").rmdir()
    os.mkfifo(logs / "outcome")
    assert read(logs) is None
    (logs / "outcome").unlink()
    (tmp_path / "secret").write_text("gave_up: a secret")
    (logs / "outcome").symlink_to(tmp_path / "secret")
    assert read(logs) is None
