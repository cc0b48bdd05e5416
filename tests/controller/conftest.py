"""What tests of runs share: their plugins, prepared data, fast timing, experiments on a test backend."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner

from mlecore.cli import main
from mlecore.controller.context import Timing
from mlecore.controller.display import Silent
from mlecore.controller.experiment import Experiment, load_experiment
from mlecore.controller.loop import Controller
from mlecore.controller.reporting import GroupResult
from mlecore.data.layout import DataDirs
from mlecore.data.prepared import Prepared
from mlecore.data.preparing import prepare
from mlecore.detecting.ready import ReadyDetector
from mlecore.model.competition import Competition
from mlecore.model.plan import Plan
from mlecore.model.provenance import PluginUse
from mlecore.model.record import RunRecord
from mlecore.model.report import Report
from mlecore.plugins.competitions import competition
from mlecore.runs.lock import GroupLock
from mlecore.runs.planning import make_plan
from mlecore.runs.store import Group, create_group, load_group
from mlecore_testing.grades import report
from mlecore_testing.site_packages import forget

INSTALLED = Path(__file__).parent / "installed"
collect_ignore = ["installed"]  # plugins for these tests
FAST = Timing(
    poll_min=0.005,
    poll_max=0.05,
    step_delay=0.01,
    step_delay_max=0.05,
    attempt_delay=0.01,
    attempt_delay_max=0.02,
    requests=0.02,
    drain=2.0,
)


@pytest.fixture(scope="module", autouse=True)
def installed() -> Iterator[Path]:
    """The plugins of tests/runs/installed, as if they were installed: here, and for graders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(INSTALLED)
        patch.setenv("PYTHONPATH", str(INSTALLED))
        forget()
        yield INSTALLED
    forget()


@pytest.fixture(scope="module")
def data(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with `coins` prepared."""
    folder = tmp_path_factory.mktemp("data")
    prepare(competition("coins"), DataDirs.of([folder]))
    return folder


class Grader:
    """Grades without pandas, and counts."""

    def __init__(self) -> None:
        self.calls: list[Path | None] = []
        self.error: Exception | None = None

    def grade(
        self, competition: Competition, submission: Path | None, data: Prepared, plugin: PluginUse | None = None
    ) -> Report:
        self.calls.append(submission)
        if self.error:
            raise self.error
        text = submission.read_text() if submission else ""
        status = "none" if submission is None else "graded" if text.count("\n") == 11 else "invalid"
        score = text.count(",1\n") / 10 if status == "graded" else None
        exists = submission is not None
        return report(score, competition_id=data.competition, status=status, submission_exists=exists)


class Recorder(Silent):
    """Remembers what is said and what changed, and does what ``on`` has for the state that a run is in now."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.changes: list[tuple[str, str]] = []
        self.on: dict[str, Callable[[RunRecord], object]] = {}

    def say(self, text: str) -> None:
        self.said.append(text)

    def changed(self, record: Any, report: Any) -> None:
        self.changes.append((record.name, record.state))
        if act := self.on.get(record.state):
            act(record)


class Lab:
    """A group, its experiment on an imagined backend, and controllers for it."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root, self.data = root, data
        self.backend_root = root / "backend"
        self.runs = root / "runs"
        (self.backend_root / "jobs").mkdir(parents=True)
        self.grader = Grader()
        self.display = Recorder()
        self.timing = FAST
        self.plan: Plan | None = None
        self.group: Group | None = None

    def make(self, *agents: tuple[str, dict[str, str]], seeds: int = 1, name: str = "g", **more: Any) -> Group:
        """A group of these agents on `coins`."""
        backend = {"root": str(self.backend_root), **more.pop("backend_options", {})}
        self.plan = make_plan(
            {
                "agents": [{"name": agent, "options": options} for agent, options in agents],
                "competitions": ["coins"],
                "seeds": seeds,
                "backend": {"name": "folders", "options": backend},
                "limits": {"time": "60s", **more.pop("limits", {})},
                "execution": {"detect": False, **more.pop("execution", {})},
                **more,
            }
        )
        self.group = create_group(self.runs, name, self.plan)
        return self.group

    def experiment(self) -> Experiment:
        assert self.plan
        loaded = load_experiment(self.plan, [self.data], self.grader)
        return evolve(loaded, extensions=self.extensions, detectors=self.detectors)

    extensions: Any = None
    detectors: tuple[ReadyDetector, ...] = ()
    finished_agents: frozenset[str] = frozenset()

    def controller(self, lock: GroupLock) -> Controller:
        assert self.group
        return Controller(self.group, self.experiment(), lock, self.display, self.timing, self.finished_agents)

    def run(self, prepare: Callable[[Controller], None] = lambda controller: None) -> GroupResult:
        """One controller from its beginning to its end."""
        assert self.group
        with GroupLock(self.group.folder, self.display.say) as lock:
            controller = self.controller(lock)
            prepare(controller)
            return controller.run()

    def folder(self, run: str) -> Path:
        assert self.group
        return self.group.folder / run

    def records(self) -> dict[str, RunRecord]:
        """By name of the run."""
        assert self.group
        return {record.name: record for record in load_group(self.group.folder)}


@pytest.fixture
def lab(tmp_path: Path, data: Path) -> Lab:
    return Lab(tmp_path, data)


@pytest.fixture
def cli(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """A command on the lab's data and runs: its exit code, and what it prints."""
    monkeypatch.setenv("MLECORE_DATA", str(lab.data))

    def call(*words: str, answer: str | None = None) -> tuple[int, str]:
        result = CliRunner().invoke(main, [*words, "--runs", str(lab.runs)], input=answer)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return call


@pytest.fixture(scope="module")
def finished_group(installed: Path, tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A group of two graded runs; tests take copies of it."""
    lab = Lab(tmp_path_factory.mktemp("finished"), data)
    group = lab.make(("worker", {}), seeds=2)
    assert lab.run().complete
    return group.folder


@pytest.fixture
def shell(tmp_path: Path, data: Path) -> Any:
    """Controllers as processes of their own, see processes.py."""
    spec = importlib.util.spec_from_file_location("mlecore_test_processes", Path(__file__).with_name("processes.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Shell(tmp_path, data)
