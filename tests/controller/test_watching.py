"""An active group, seen from outside."""

from __future__ import annotations

import json

import pytest
from attrs import evolve
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.controller.watching import Watcher
from mlecore.model.model_access import ModelAccess
from mlecore.runs import secrets
from mlecore.runs.lock import GroupLock
from mlecore.runs.store import load_group, write_record
from mlecore_jobs.fetching import GATEWAY_LOG, Fetched


@pytest.fixture
def at_work(lab):
    """Of two runs, one is running and one is waiting. No controller is there any more."""
    lab.make(("worker", {}), name="before")
    lab.make(("worker", {"seconds": "600"}), seeds=2, name="long", execution={"max_parallel": 1})
    experiment = lab.experiment()
    lab.experiment = lambda: experiment
    with GroupLock(lab.group.folder) as lock:
        controller = lab.controller(lock)
        lab.display.on["running"] = lambda record: controller.stop()
        controller.run()
    assert sorted(record.state for record in load_group(lab.group.folder)) == ["planned", "running"]
    return lab.group.folder


def watch(folder, *words: str):
    return CliRunner().invoke(main, ["runs", "watch", folder.name, "--runs", str(folder.parent), *words])


def test_the_same_as_json(at_work):
    found = json.loads(watch(at_work, "--json").output)
    (run,) = found["running"]
    assert found["agents"] == {"worker": {"planned": 1, "running": 1}} and not found["ended"]
    assert (run["snapshots"], run["calls"], run["last_line"]) == (1, None, "working")
    assert run["used"] + run["left"] == pytest.approx(60.0)
    assert 60.0 < found["at_most"] <= 120.0 and found["seconds_to_end"] is None


def test_what_its_gateway_has_counted(at_work):
    record = load_group(at_work)[0]
    write_record(evolve(record, access=ModelAccess(endpoint="http://m/v1")))

    class Beside:
        """A backend with a gateway next to the job."""

        def logs(self, handle, offset):
            yield b"one\n\x1b[31mtwo\n \n"[offset:]

        def fetch(self, handle, globs, into, max_bytes, max_files):
            if globs == [str(GATEWAY_LOG)]:
                call = {"time": "t", "method": "POST", "path": "/", "outcome": "passed", "cost_usd": 0.5}
                (into / GATEWAY_LOG).parent.mkdir(parents=True)
                (into / GATEWAY_LOG).write_text(json.dumps({**call, "tokens": {"input": 7, "output": 4}}) + "\n")
                return Fetched(files=1, bytes=1)
            assert max_bytes == 0, "snapshots are counted, not copied"
            return Fetched(files=0, bytes=0, refused=("1.csv: 9 bytes", "and 41 more"))

    watcher = Watcher(at_work)
    watcher._backend = Beside()
    for _ in range(2):  # the second time, nothing new was printed
        (run,) = watcher.look().running
        assert (run.calls, run.tokens, run.cost_usd, run.snapshots) == (1, 11, 0.5, 42)
        assert run.last_line == "[31mtwo" and not run.why


def test_a_backend_that_does_not_answer_is_named(at_work, lab):
    (lab.backend_root / "unreachable").touch()
    result = watch(at_work, "--once")
    assert result.exit_code == 0 and "the folders do not answer" in result.output


def test_it_ends_with_the_group(lab):
    lab.make(("worker", {}), seeds=2)
    assert lab.run().complete
    result = watch(lab.group.folder)
    assert result.exit_code == 0 and "g: 2 runs; all have ended" in result.output


def test_without_a_name_it_is_the_last_group(at_work):
    result = CliRunner().invoke(main, ["runs", "watch", "--once", "--runs", str(at_work.parent)])
    assert result.output.startswith("long: ")
    result = CliRunner().invoke(main, ["runs", "watch", "--once", "--runs", str(at_work)])
    assert result.exit_code == 2 and "no groups in" in result.output


def test_secrets_of_a_running_run_are_masked_wherever_its_output_is_shown(at_work, monkeypatch):
    monkeypatch.setattr(secrets, "SHORTEST", 4)
    record = load_group(at_work)[0]
    write_record(evolve(record, given_secrets=("HF_TOKEN",)))
    secrets.remember(record.folder, ("HF_TOKEN",), {"HF_TOKEN": "working"})
    shown = CliRunner().invoke(main, ["runs", "logs", f"long/{record.name}", "--runs", str(at_work.parent)])
    assert shown.exit_code == 0 and "*******" in shown.output and "working" not in shown.output, shown.output
    assert watch(at_work, "--once").output.splitlines()[-1].endswith("*******")
