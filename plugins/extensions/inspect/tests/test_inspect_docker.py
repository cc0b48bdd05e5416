"""inspect's own Docker sandbox: what an agent finds there, and the score of what it hands in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mlecore
from mlecore.data.prepared import Prepared
from mlecore_testing.answers_hunt import found, program

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")


@pytest.mark.slow
@pytest.mark.docker
def test_a_container_has_the_data_and_neither_answers_nor_a_network(
    evaluate: Callable[..., Any], prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai.util._sandbox.docker import prereqs

    async def any_engine(*_: Any) -> None:
        """Copying needs nothing that older engines lack."""

    monkeypatch.setattr(prereqs, "validate_docker_engine", any_engine)
    log = evaluate(
        tmp_path,
        [
            ("python", {"code": program(prepared, addresses=(("172.17.0.1", 22),))}),
            ("bash", {"command": "cp /opt/mlecore/sample.csv /home/submission/submission.csv"}),
            ("bash", {"command": "sh /home/validate_submission.sh; grep NoNewPrivs /proc/1/status"}),
            ("submit", {"answer": "done"}),
        ],
        sandbox=None,  # the task's own
    )
    assert log.status == "success", log.error
    (sample,) = log.samples
    assert sample.sandbox.type == "docker"
    said = [message.text for message in sample.messages if message.role == "tool"]
    hunted = found(said[0])
    assert (hunted.answers, hunted.reached) == ([], [])
    assert hunted.looked > 100
    assert "well-formed" in said[2]
    assert "NoNewPrivs:\t1" in said[2]
    expected = mlecore.grade(
        mlecore.competition(prepared.competition), prepared.public / "sample_submission.csv", prepared
    )
    assert sample.scores["grade"].value["score"] == expected.exact
