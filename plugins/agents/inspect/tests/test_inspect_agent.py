"""inspect's react against a scripted model, in a graded run."""

from __future__ import annotations

from pathlib import Path

import pytest
from mlecore_testing import check_agent, scripted_run
from mlecore_testing.models import Answer, Tool


def test_conformance() -> None:
    check_agent("inspect")


@pytest.mark.sandbox
@pytest.mark.network
def test_react_submits_through_the_gateway(tmp_path: Path) -> None:
    solve = "cp $MLECORE_OPT/sample.csv $MLECORE_HOME/submission/submission.csv"
    done = scripted_run(
        "inspect",
        [
            Answer(tools=(Tool(name="bash", arguments={"command": solve}),)),
            Answer(tools=(Tool(name="submit", arguments={"answer": "done"}),)),
        ],
        tmp_path,
        options={"agent": "react", "pip": "numpy"},
    )
    record = done.record
    assert record.report is not None and record.report.valid_submission, record.reason
    assert record.outcome is not None and record.outcome.kind == "submitted"
    assert record.calls is not None and record.calls.calls == 2
    assert record.usage_difference == ""
    assert list((record.folder / "logs" / "inspect").glob("*.eval"))
    assert done.leaks == ()
