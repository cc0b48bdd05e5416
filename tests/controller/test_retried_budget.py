"""A retried run keeps the budget that it has left, not a fresh one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mlecore.controller.start import _with_earlier_spending
from mlecore.model.backends import Dataset, Image, Job, Resources
from mlecore.model.model_access import ModelAccess
from mlecore.model.record import Attempt, RunRecord
from mlecore_gateway.calls import Call, Tokens
from mlecore_jobs.fetching import GATEWAY_LOG
from mlecore_testing.records import a_run

DATASET = Dataset(competition="c", edition="v1", public=Path("/d"), digest="d")


def job(resources: Resources) -> Job:
    image = Image(ref="", digest="")
    return Job(
        name="mle-u-3", group="g", image=image, dataset=DATASET, data="/d", argv=("a",), tools={}, resources=resources
    )


def record(folder: Path, attempts: int) -> RunRecord:
    return a_run(folder, attempts=tuple(Attempt(number=n, job=f"mle-u-{n}") for n in range(1, attempts + 1)))


def spend(folder: Path, attempt: int, calls: int) -> None:
    path = folder / "attempts" / str(attempt) / "rest" / GATEWAY_LOG
    path.parent.mkdir(parents=True)
    one = {"time": "2026-01-01T00:00:00+00:00", "method": "POST", "path": "/x", "asked": "m", "outcome": "passed"}
    lines = [Call(number=n, tokens=Tokens(input=10, output=1), cost_usd=0.5, **one) for n in range(calls)]
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def test_all_earlier_attempts_count_and_this_one_does_not(tmp_path: Path) -> None:
    for attempt, calls in ((1, 2), (2, 3), (3, 7)):
        spend(tmp_path, attempt, calls)
    resources = Resources(network="llm", model=ModelAccess(endpoint="https://x.example/v1", budgets=("9calls",)))
    model = _with_earlier_spending(job(resources), record(tmp_path, 3)).resources.model
    assert model is not None and model.budgets == ("9calls",)
    assert model.spent == {"usd": 2.5, "tokens": 55, "calls": 5}
    model = _with_earlier_spending(job(resources), record(tmp_path, 1)).resources.model
    assert model is not None and model.spent == {}
