"""The instructions say where things are, what counts and what is forbidden, for this run."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from mlecore.controller.instructions import hardware_words, instructions


def text(**more) -> str:
    return instructions(**{"time_limit": 5400.0, "hardware": "4 CPUs", "network": "none", **more}).text


def test_everything_that_an_agent_must_know():
    told = text()
    for words in (
        "/home/data/description.md",
        "/home/submission/submission.csv",
        "/home/code/",
        "/home/logs/",
        "/home/validate_submission.sh",
        "1h 30m",
        "4 CPUs",
    ):
        assert words in told
    assert "{" not in told and max(map(len, told.splitlines())) <= 120


def test_what_is_forbidden_is_stated_plainly():
    told = instructions(time_limit=1.0, hardware="", network="open")
    assert told.rules in told.text
    for words in ("answers of the test set", "deceive what checks", "copy solutions", "by hand", "recorded"):
        assert words in told.rules


def test_another_home_stands_everywhere():
    told = text(home=PurePosixPath("/srv/job"))
    assert "/srv/job/data/description.md" in told and "/home" not in told


@pytest.mark.parametrize(
    ("network", "words"), [("none", "Nothing outside"), ("llm", "only the model"), ("open", "open.")]
)
def test_the_network_that_it_has(network, words):
    assert words in text(network=network)


def test_hardware():
    assert hardware_words(2.0, 16 * 10**9, 1, None) == "2 CPUs, 16.0 GB of memory, 1 GPU"
    assert hardware_words(1, None, 0, 10**9) == "1 CPU, the memory that you see, no GPU, 1.0 GB of disk to write to"


def test_obfuscated_they_name_neither_competition_nor_leaderboard():
    hidden = text(obfuscated=True)
    for word in ("competition", "leaderboard", "kaggle", "medal"):
        assert word not in hidden.lower()
    assert "a hidden test set.\n" in hidden and "published for this task" in hidden
    assert hidden.replace("task", "") != text().replace("task", "")
