"""`mlecore runs retry --force`: another attempt in the place of a result, which is kept; records and reports say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlecore.controller import records
from mlecore.controller.api import run_group
from mlecore.runs import requests
from mlecore.runs.folders import FINDINGS
from mlecore.runs.store import read_record

RUN = "worker--coins--0"


@pytest.fixture
def graded(lab) -> Path:
    """A run with a result, and a detector's finding about it."""
    group = lab.make(("worker", {}))
    assert lab.run().complete
    (group.folder / RUN / FINDINGS).mkdir(exist_ok=True)
    (group.folder / RUN / FINDINGS / "dolos.json").write_text("{}")
    return group.folder / RUN


def content(folder: Path, skip: tuple[str, ...] = ("attempts", "run.json", ".run.json.previous")) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    return {name: data for name, data in found.items() if name.partition("/")[0] not in skip}


def test_without_force_a_result_stays(cli, graded):
    code, output = cli("runs", "retry", f"g/{RUN}")
    assert code == 2 and "is graded" in output and "--force" in output
    code, output = cli("runs", "retry", "g", "--state", "graded")
    assert code == 2 and "--force" in output
    assert read_record(graded).state == "graded"


def test_it_asks_first(cli, graded):
    code, output = cli("runs", "retry", "--force", f"g/{RUN}", answer="n\n")
    assert code == 1 and "1 run has a result:" in output and f"g/{RUN}  graded 0.5" in output
    assert "attempts/NUMBER/replaced" in output and "by hand" in output
    assert cli("runs", "retry", "--force", f"g/{RUN}")[0] == 1, "nobody is there to answer"
    assert read_record(graded).state == "graded" and not requests.pending(graded.parent)


def test_the_old_result_is_kept_whole_and_the_new_one_says_so(cli, lab, graded):
    before, old = content(graded), read_record(graded)
    code, output = cli("runs", "retry", "--force", f"g/{RUN}", answer="y\n")
    assert code in (0, 3) and "To start them: mlecore runs resume g" in output
    planned = read_record(graded)
    assert (planned.state, planned.collected, planned.gradings, planned.seconds) == ("planned", None, 0, None)
    kept = graded / "attempts/1/replaced"
    assert content(kept) == before and content(graded) == {}
    assert read_record(kept).digests == old.digests and not read_record(kept).altered
    run_group(None, "g", lab.runs, [lab.data], lab.display, timing=lab.timing)
    record = read_record(graded)
    assert (record.state, record.gradings, len(record.attempts)) == ("graded", 1, 2)
    (replaced,) = record.forced
    assert (replaced.attempt, replaced.ended, replaced.status, replaced.score) == (1, "finished", "graded", "0.5")
    assert replaced.kept == "attempts/1/replaced" and content(kept) == before
    code, output = cli("runs", "show", f"g/{RUN}")
    assert "by hand at" in output and "the result was: graded 0.5; kept in attempts/1/replaced" in output
    code, output = cli("report", "g")
    assert code == 0 and "replaced by hand" in output and f"{RUN} (was graded 0.5)" in " ".join(output.split())


def test_of_a_group_the_runs_that_ended_so(cli, lab):
    lab.make(("worker", {}), ("worker", {"code": "1"}))
    assert lab.run().complete
    code, output = cli("runs", "retry", "--force", "--yes", "g")
    assert code == 0 and "nothing to retry" in output
    code, output = cli("runs", "retry", "--force", "--yes", "g", "--ended", "crashed")
    assert {name: record.state for name, record in lab.records().items()} == {
        RUN: "graded",
        "worker-2--coins--0": "planned",
    }
    assert cli("runs", "retry", "--force", "--yes", "g", "--ended", "nonsense")[0] == 2
    cli("runs", "retry", "--force", "--yes", "g", "--state", "graded")
    assert {record.state for record in lab.records().values()} == {"planned"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grade.json", "submission", "logs", FINDINGS])
def test_a_controller_that_dies_while_it_moves_the_result(lab, graded, monkeypatch, name):
    before = content(graded)

    def rename(path: Path, target: Path) -> None:
        if path.name == name:
            raise KeyboardInterrupt
        path.rename(target)

    requests.leave(graded.parent, RUN, "force")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(records.files, "rename", rename)
        records.set_aside(_planned(graded))
    done = run_group(None, "g", lab.runs, [lab.data], lab.display, timing=lab.timing)
    assert done.outcome.complete
    record = read_record(graded)
    assert record.state == "graded" and len(record.attempts) == 2 and content(graded / "attempts/1/replaced") == before


def _planned(folder: Path):
    from attrs import evolve

    from mlecore.runs.store import write_record

    record = read_record(folder)
    fresh = records.without_result(record)
    return write_record(evolve(fresh, state="planned", ended=None, reason="", retry_from=1))


def test_a_finding_that_comes_late_is_not_about_the_new_result(lab, graded):
    records.set_aside(_planned(graded))
    (graded / FINDINGS).mkdir()
    (graded / FINDINGS / "dolos.json").write_text('{"late": true}')
    run_group(None, "g", lab.runs, [lab.data], lab.display, timing=lab.timing)
    assert read_record(graded).state == "graded" and not (graded / FINDINGS).exists()
    assert (graded / "attempts/1/replaced" / FINDINGS / "dolos.json").read_text() == "{}"


def test_a_controller_at_work_is_asked(lab):
    """It replaces the result of a run that has ended, while another one is still at work."""
    lab.make(("worker", {}), ("worker", {"seconds": "3600"}))
    asked = []

    def ask(record):
        if record.name == RUN:
            (lab.backend_root / "over").touch() if asked else requests.leave(lab.group.folder, RUN, "force")
            asked.append(True)

    lab.display.on["graded"] = ask
    assert lab.run().complete
    record = lab.records()[RUN]
    assert record.state == "graded" and len(record.attempts) == 2 and len(record.forced) == 1
    assert not requests.pending(lab.group.folder)


def test_a_budget_begins_anew_with_a_forced_attempt(tmp_path):
    from attrs import evolve

    from mlecore.controller.start import _with_earlier_spending
    from mlecore.model.backends import Resources
    from mlecore.model.model_access import ModelAccess
    from mlecore.model.record import Replaced

    from .test_retried_budget import job, record, spend

    for attempt, calls in ((1, 2), (2, 3), (3, 7)):
        spend(tmp_path, attempt, calls)
    resources = Resources(network="llm", model=ModelAccess(endpoint="https://x.example/v1", budgets=("9calls",)))
    forced = evolve(record(tmp_path, 3), forced=(Replaced(attempt=1, at="now"),))
    assert _with_earlier_spending(job(resources), forced).resources.model.spent["calls"] == 3
