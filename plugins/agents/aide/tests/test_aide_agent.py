"""AIDE: graded runs in which the best solution is not the last one, or has to be run again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import mle_agent_aide as plugin
import pytest

from mlecore.model.record import RunRecord
from mlecore_testing import check_agent, scripted_run
from mlecore_testing.models import Answer
from mlecore_testing.models.script import Tool


def solution(code: str) -> Answer:
    return Answer(text=f"A plan in a few words.\n\n```python\n{code}\n```", when="grandmaster attending")


# An answer without text, and without usage.
NOTHING = Answer(tools=(Tool(name="bash"),), when="grandmaster attending", reports_usage=False)


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


# Its metric is there at once, its submission the second time only: as with a solution that keeps its model in a file.
LATER = """
from pathlib import Path
if Path('working/model').exists():
    {then}
Path('working/model').touch()
print('accuracy', 0.9)"""


DRAFTS = {"packages": "few", "num-drafts": "9", "debug-prob": "0"}


def handed_in(record: RunRecord) -> set[str]:
    """The labels of the submission, which was graded as valid."""
    assert json.loads((record.folder / "grade.json").read_bytes())["valid_submission"]
    return {line.rpartition(",")[2] for line in record.submission.read_text().splitlines()[1:]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all runs, so that AIDE is installed once."""
    return tmp_path_factory.mktemp("aide")


def test_conformance() -> None:
    check_agent("aide")


def test_few_packages_leave_out_what_aide_lists() -> None:
    few, whole = (plugin.recipe({"packages": packages, "pip": "lightgbm"}) for packages in ("few", "all"))
    assert few.pip_alone == (plugin.AIDE,) and "lightgbm" in few.pip
    assert plugin.AIDE in whole.pip and not whole.pip_alone


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
@pytest.mark.xdist_group("aide")
def test_a_graded_run_hands_in_the_best_of_all_steps(folder: Path) -> None:
    """The second of four is best: the first fails, the third is worse, the fourth dies without a word.

    Reviews say the wrong direction, and the feedback model is asked by another protocol than the first.
    """
    answers = (
        *(solution("raise ValueError('no')"), review(None, is_bug=True)),
        *(solution(submit(3)), review(0.9)),
        *(solution(submit(4)), review(0.2)),
        *(solution("import os\nos._exit(1)"), review(None, is_bug=True)),
    )
    done = scripted_run("aide", answers, folder, options={**DRAFTS, "steps": "4", "feedback-model": "gpt-feedback"})
    record = done.record
    assert handed_in(record) == {"3"}
    assert "import pandas" in (record.folder / "code" / "solution.py").read_text()
    journal = json.loads(next((record.folder / "logs" / "aide").rglob("journal.json")).read_text())
    assert [node["is_buggy"] for node in journal["nodes"]] == [True, False, False, True]
    assert any((record.folder / "logs" / "aide").rglob("tree_plot.html"))
    assert {"/v1/chat/completions", "/v1/responses"} <= set(done.served.paths)
    first = json.dumps(done.served.requests[0]["body"])
    assert "attempt 1 of at most 4" in first and re.search(r"Time left: 1?\d minutes", first)
    assert "YOUR MEANS" in first
    assert done.leaks == ()
    assert record.usage.input_tokens == record.reported_usage.input_tokens == done.served.input


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.sandbox
@pytest.mark.xdist_group("aide")
@pytest.mark.parametrize(
    ("then", "label"), [(submit(5), "5"), ("raise ValueError", "4")], ids=["it leaves one now", "it leaves none again"]
)
def test_a_best_solution_without_a_submission_is_run_again(folder: Path, then: str, label: str) -> None:
    """It is handed in if it leaves one now; else the best of those that did."""
    later = LATER.format(then="    ".join(then.splitlines(keepends=True)))
    answers = (NOTHING, solution(later), review(0.9), solution(submit(4)), review(0.5))
    record = scripted_run("aide", answers, folder, options={**DRAFTS, "steps": "2"}).record
    assert handed_in(record) == {label}
    assert ("working/model" in (record.folder / "code" / "solution.py").read_text()) == (label == "5")
