"""Running a plan from Python: ``mlecore.run(...)``, and what the command line does underneath."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Unpack

from attrs import frozen

from mlecore.controller.capacity import cost_forecast, forecast
from mlecore.controller.context import Timing
from mlecore.controller.display import Lines, Silent
from mlecore.controller.experiment import Experiment, load_experiment
from mlecore.controller.loop import Controller
from mlecore.controller.preflight import preflight
from mlecore.controller.reporting import Display, GroupResult
from mlecore.errors import BackendUnreachable, DataError, UsageError
from mlecore.grading.isolated import IsolatedGrader
from mlecore.model.plan import Plan, PlannedRun
from mlecore.model.record import RunRecord
from mlecore.runs import requests
from mlecore.runs.arguments import Arguments, lists_arguments, plan_of
from mlecore.runs.contents import check_group
from mlecore.runs.folders import is_group
from mlecore.runs.lock import GroupLock
from mlecore.runs.ownership import require_own, require_own_plan
from mlecore.runs.planning import difference
from mlecore.runs.store import Group, create_group, load_group, new_uid, open_group
from mlecore.util import validation
from mlecore.util.locks import LockHeld
from mlecore.util.units import counted

_DATA = {
    "published": "data as published",
    "unverified": "data not verified",
    "synthetic": "synthetic data: no medals",
    "no_leaderboard": "no human leaderboard: no medals",
}


@lists_arguments
def run(
    *,
    plan: Plan | Mapping[str, Any] | Path | str | None = None,
    group: str | None = None,
    runs: Path | str = "runs",
    data: Path | str | Sequence[Path | str] = (),
    display: Display | None = None,
    **arguments: Unpack[Arguments],
) -> list[RunRecord]:
    """Let an agent (or all of ``plan``) work on competitions, and return the records of the whole group.

    Blocks until all runs are settled. What is not given has the default of a plan (docs/schemas/plan.md); ``plan`` is
    one, the file of one, or the dictionary that such a file holds. ``group`` names a group, which is resumed if it
    exists; without it, a new one is made. Times and sizes are numbers (seconds, bytes) or text ("24h", "16GB").
    ``record.report`` says how a run did (``.score``, ``.medal``), ``record.folder`` holds what it left. ``display`` is
    shown the progress; by default, it is a line on standard error for each change. Raises UsageError, NotPrepared,
    BackendError, EndpointError before anything starts.
    """
    wanted = plan_of(plan, arguments)
    done = run_group(
        wanted,
        None if group is None else validation.text(group, "a group's name"),
        validation.path(runs, "the folder of the groups"),
        validation.paths(data, "a data directory"),
        display or Lines(len(wanted)),
    )
    return load_group(done.group.folder)


@frozen
class Done:
    """The outcome of a group."""

    group: Group
    outcome: GroupResult


def run_group(
    plan: Plan | None,
    name: str | None,
    runs: Path,
    data: Sequence[Path | str] = (),
    display: Display | None = None,
    *,
    only: frozenset[str] | None = None,
    start_new: bool = True,
    with_installed: bool = False,
    timing: Timing | None = None,
) -> Done:
    """Run a plan as a new group, or resume a group. ``plan`` None: the group's own, which must be there.

    Its runs are graded by the plugins that it began with; ``with_installed``: by those that are installed.

    Raises errors of the plan before anything starts, LockHeld if another controller
    works on it, DataError if the group cannot be written to the disk.
    """
    display = display or Silent()
    try:
        group = existing(runs, name, plan)
        folders = [str(Path(folder).absolute()) for folder in data] or list(group.info.data if group else ())
        wanted = plan or (group.plan if group else None)
        assert wanted is not None
        with IsolatedGrader() as grader:
            experiment = load_experiment(
                wanted, folders, grader, display.say, resumed=group is not None, with_installed=with_installed
            )
            uid, is_new = group.info.uid if group else new_uid(), group is None
            finished: frozenset[str] = frozenset()
            if start_new:
                finished = preflight(experiment, uid, display.say, _still_to_begin(group) if group else None)
            group = group or _create(runs, name, wanted, uid, tuple(folders), experiment)
            if not with_installed:
                _warn_of_other_plugins(group, experiment, display)
            if start_new:
                display.say(f"group {group.name}: {counted(len(wanted), 'run')}, in {group.folder}")
                started = sum(run.label not in finished for run in wanted.runs())
                if is_new and started:
                    with suppress(BackendUnreachable):  # the controller asks again
                        display.say(forecast(wanted, experiment.backend.capacity(), started, group.folder))

            def control(lock: GroupLock) -> GroupResult:
                controller = Controller(group, experiment, lock, display, timing, finished, start_new)
                with _interruptible(controller):
                    return controller.run(only)

            return Done(group, _control(group.folder, control, display))
    except OSError as error:
        raise DataError(
            f"the group cannot be written to the disk: {error}",
            fix="Nothing is lost. Once the disk works again: mlecore runs resume GROUP",
        ) from error


def dry_run(plan: Plan, runs: Path, data: Sequence[Path | str], say: Callable[[str], None]) -> None:
    """Check a plan as before a new group, and say what would run, for how long and for how much. Starts nothing.

    Raises the errors of the plan that ``run_group`` raises before anything starts.
    """
    with IsolatedGrader() as grader:
        experiment = load_experiment(plan, [str(Path(folder).absolute()) for folder in data], grader, say)
        finished = preflight(experiment, new_uid(), say)
    for agent in plan.agents:
        say(f"agent {agent.label}" + (f", model {agent.model} at {agent.endpoint}" if agent.model else ""))
    for inputs in experiment.inputs.values():
        say(f"competition {inputs.use.name}, {_DATA[inputs.data.kind(inputs.facts)]}")
    started = sum(run.label not in finished for run in plan.runs())
    counts = [counted(len(plan.agents), "agent"), counted(len(plan.competitions), "competition")]
    say(f"{counted(len(plan), 'run')}: {' x '.join([*counts, counted(len(plan.seeds), 'seed')])}")
    if started:
        there = next(folder for folder in (runs.absolute(), *runs.absolute().parents) if folder.is_dir())
        say(forecast(plan, experiment.backend.capacity(), started, there))
    if calling := sum(bool(run.agent.model) for run in plan.runs()):
        say(cost_forecast(plan, calling))


def _still_to_begin(group: Group) -> list[PlannedRun]:
    names = {run.name for run in load_group(group.folder) if run.state == "planned"}
    return [run for run in group.plan.runs() if run.name in names]


def _control(folder: Path, control: Callable[[GroupLock], GroupResult], display: Display) -> GroupResult:
    """Run controllers until no request is pending.

    A request that comes after a controller's last check, while it still holds the lock, would wait for somebody to
    resume the group, although whoever left it saw a controller and relies on it.
    """
    with GroupLock(folder, display.say) as lock:
        result = control(lock)
    answered: Mapping[str, requests.Request] = {}
    while (asked := requests.pending(folder)) and asked != answered and not result.interrupted:
        answered = asked
        try:
            with GroupLock(folder, display.say) as lock:
                result = control(lock)
        except LockHeld:  # that controller finds them
            return result
    if asked:
        display.say(f"{counted(len(asked), 'request')} to cancel or retry runs will be answered by the next controller")
    return result


def _warn_of_other_plugins(group: Group, experiment: Experiment, display: Display) -> None:
    for began in group.info.plugins:
        inputs = experiment.inputs.get(began.name)
        if inputs and not inputs.use.is_same_as(began):
            display.say(
                f"warning: {inputs.use} is installed and the group began with {began}: "
                f"no run of {began.name} is graded (mlecore runs grade {group.name} --with-installed does it anyway)"
            )


def _create(runs: Path, name: str | None, plan: Plan, uid: str, data: tuple[str, ...], experiment: Experiment) -> Group:
    plugins = tuple(inputs.use for inputs in experiment.inputs.values())
    try:
        return create_group(runs, name, plan, data, plugins, uid)
    except OSError as error:
        raise DataError(f"no group can be created in {runs}: {error}", fix="Name another folder: --runs DIR") from error


def existing(runs: Path, name: str | None, plan: Plan | None) -> Group | None:
    """The group to resume, if there is one. Raises UsageError for another plan than its own."""
    if name is None:
        if plan is None:
            raise UsageError("give a plan or a group")
        return None
    folder = validation.path(runs / name, "a group")
    if plan is not None and not is_group(folder):
        return None
    group = open_group(folder)
    require_own(group)
    check_group(folder)
    require_own_plan(group)
    if plan is not None and plan != group.plan:
        raise UsageError(
            f"the group {name} has another plan: {difference(plan, group.plan)}",
            fix=f"Resume it as it is (mlecore runs resume {name}), or start another group.",
        )
    return group


@contextmanager
def _interruptible(controller: Controller) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop the controller in order; the second time, at once. Runs continue either way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, frame: object) -> None:
        controller.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
