"""AIDE: a graded run in which the best solution is not the last one."""

from __future__ import annotations

import json
from pathlib import Path

import mle_agent_aide as plugin
import pytest

from mlecore.testing import check_agent, scripted_run
from mlecore.testing.models import Answer
from mlecore.testing.models.script import Tool


def solution(code: str) -> Answer:
    return Answer(text=f"A plan in a few words.\n\n```python\n{code}\n```", when="grandmaster attending")


def review(metric: float | None, *, is_bug: bool = False) -> Answer:
    given = {"is_bug": is_bug, "summary": "seen", "metric": metric, "lower_is_better": True}
    return Answer(tools=(Tool(name="submit_review", arguments=given),), when="evaluate the output")


def submit(label: int) -> str:
    """A solution whose submission tells it from others."""
    return (
        "import pandas as pd\n"
        "sample = pd.read_csv('input/sample_submission.csv')\n"
        f"sample[sample.columns[1]] = {label}\n"
        "sample.to_csv('working/submission.csv', index=False)\n"
        "print('accuracy', 0.5)"
    )


def test_conformance() -> None:
    check_agent("aide")


def test_few_packages_leave_out_what_aide_lists() -> None:
    few, whole = (plugin.recipe({"packages": packages, "pip": "lightgbm"}) for packages in ("few", "all"))
    assert few.pip_alone == (plugin.AIDE,) and "lightgbm" in few.pip
    assert plugin.AIDE in whole.pip and not whole.pip_alone


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
def test_a_graded_run_hands_in_the_best_of_all_steps(tmp_path: Path) -> None:
    """The second of four is best: the first fails, the third is worse, the fourth dies without a word.

    Reviews say the wrong direction, and the feedback model is asked by another protocol than the first.
    """
    answers = (
        *(solution("raise ValueError('no')"), review(None, is_bug=True)),
        *(solution(submit(3)), review(0.9)),
        *(solution(submit(4)), review(0.2)),
        *(solution("import os\nos._exit(1)"), review(None, is_bug=True)),
    )
    options = {"packages": "few", "steps": "4", "feedback_model": "gpt-feedback", "num_drafts": "9", "debug_prob": "0"}
    done = scripted_run("aide", answers, tmp_path, options=options)
    record = done.record
    assert json.loads((record.folder / "grade.json").read_bytes())["valid_submission"]
    handed_in = record.submission.read_text().splitlines()
    assert {line.rpartition(",")[2] for line in handed_in[1:]} == {"3"}
    assert "import pandas" in (record.folder / "code" / "solution.py").read_text()
    journal = json.loads(next((record.folder / "logs" / "aide").rglob("journal.json")).read_text())
    assert [node["is_buggy"] for node in journal["nodes"]] == [True, False, False, True]
    assert any((record.folder / "logs" / "aide").rglob("tree_plot.html"))
    assert {"/v1/chat/completions", "/v1/responses"} <= set(done.served.paths)
    first = json.dumps(done.served.requests[0]["body"])
    assert "attempt 1 of at most 4" in first and "Time left: 4 minutes" in first and "YOUR MEANS" in first
    assert done.leaks == ()
    assert record.usage.input_tokens == record.reported_usage.input_tokens == done.served.input
