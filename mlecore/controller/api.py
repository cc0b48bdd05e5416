"""Running a plan from Python: ``mlecore.run(...)``, and what the command line does underneath."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from mlecore.controller.display import Silent
from mlecore.errors import DataError, UsageError
from mlecore.runs.plan import Plan, make_agents, read_plan, validated, write_plan
from mlecore.runs.record import Limits, RunRecord
from mlecore.runs.store import Group, create_group, is_group, load_group, open_group
from mlecore.units import duration, size

if TYPE_CHECKING:
    from mlecore.agents import Network
    from mlecore.controller.loop import Controller
    from mlecore.controller.state import Display, GroupResult, Timing


def run(
    agent: str | None = None,
    competitions: Sequence[str] = (),
    *,
    options: Mapping[str, str] | None = None,
    seeds: int | Sequence[int] = 1,
    backend: str = "vm",
    backend_options: Mapping[str, str] | None = None,
    time_limit: str | float = "24h",
    cpus: float | None = None,
    memory: str | int | None = None,
    gpus: int = 0,
    disk: str | int | None = None,
    network: Network | None = None,
    allow: Sequence[str] = (),
    model: str | None = None,
    endpoint: str | None = None,
    edition: str = "v1",
    synthetic: bool = False,
    plan: Plan | Path | str | None = None,
    group: str | None = None,
    runs: Path | str = "runs",
    data: Sequence[Path | str] = (),
    max_parallel: int | None = None,
    retries: int = 2,
    display: Display | None = None,
) -> list[RunRecord]:
    """Let an agent (or all of ``plan``) work on competitions, and return the records of the whole group.

    Blocks until all runs are settled. ``group`` names a group, which is gone on with if it is there; without it, a new
    one is made. Times and sizes are numbers (seconds, bytes) or text ("24h", "16GB"). ``record.folder`` holds what
    a run left, its grade.json the report. Raises UsageError, NotPrepared, BackendError before anything starts.
    """
    if plan is None:
        if agent is None:
            raise UsageError("no agent is named, and no plan")
        plan = make_plan(
            agent,
            competitions,
            options=options or {},
            seeds=seeds,
            backend=backend,
            backend_options=backend_options or {},
            limits=make_limits(time_limit, cpus, memory, gpus, disk, network, allow, bool(model or endpoint)),
            model=model,
            endpoint=endpoint,
            edition=edition,
            synthetic=synthetic,
            max_parallel=max_parallel,
            retries=retries,
        )
    elif not isinstance(plan, Plan):
        plan = read_plan(Path(plan))
    done = run_group(plan, group, Path(runs), data, display)
    return load_group(done.group.folder)


def make_limits(
    time_limit: str | float,
    cpus: float | None,
    memory: str | int | None,
    gpus: int,
    disk: str | int | None,
    network: Network | None,
    allow: Sequence[str],
    model: bool,
) -> Limits:
    """Limits from what a user writes; with a model, a relay to it is the network that a run gets by default."""
    return Limits(
        time=duration(time_limit),
        cpus=cpus,
        memory=None if memory is None else size(memory),
        gpus=gpus,
        disk=None if disk is None else size(disk),
        network=network or ("llm" if model or allow else "none"),
        allow=tuple(allow),
    )


def make_plan(
    agent: str,
    competitions: Sequence[str],
    *,
    options: Mapping[str, str],
    seeds: int | Sequence[int],
    model: str | None,
    endpoint: str | None,
    **rest: Any,
) -> Plan:
    """A plan with one agent. Raises UsageError."""
    return validated(
        Plan(
            agents=make_agents([(agent, None, options, model, endpoint)]),
            competitions=tuple(competitions),
            seeds=tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds),
            **rest,
        )
    )


@frozen
class Done:
    """What became of a group."""

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
    timing: Timing | None = None,
) -> Done:
    """Run a plan as a new group, or go on with a group. ``plan`` None: the group's own, which must be there.

    Raises what is wrong before anything starts, GroupLocked where another controller is at it, DataError where the
    disk does not take the group.
    """
    try:
        return _run_group(plan, name, runs, data, display or Silent(), only, start_new, timing)
    except OSError as error:
        raise DataError(
            f"the disk does not take the group: {error}",
            fix="Nothing is lost. Once it is mended: mlecore runs resume GROUP",
        ) from error


def _run_group(
    plan: Plan | None,
    name: str | None,
    runs: Path,
    data: Sequence[Path | str],
    display: Display,
    only: frozenset[str] | None,
    start_new: bool,
    timing: Timing | None,
) -> Done:
    from mlecore.controller.experiment import load_experiment
    from mlecore.controller.loop import Controller
    from mlecore.controller.preflight import preflight
    from mlecore.grading.isolated import IsolatedGrader
    from mlecore.runs.lock import GroupLock

    group = existing(runs, name, plan)
    places = [str(Path(place).absolute()) for place in data] or list(group.info.data if group else ())
    wanted = plan or (group.plan if group else None)
    assert wanted is not None
    with IsolatedGrader() as grader:
        experiment = load_experiment(wanted, places, grader, display.say)
        finished: frozenset[str] = frozenset()
        if start_new:
            with tempfile.TemporaryDirectory(prefix="mlecore-preflight-") as scratch:
                finished = preflight(experiment, Path(scratch), display.say)
        group = group or _create(runs, name, wanted, tuple(places))
        if start_new:
            display.say(f"group {group.name}: {len(wanted)} runs, in {group.folder}")
        with GroupLock(group.folder, display.say) as lock:
            controller = Controller(group, experiment, lock, display, timing, finished, start_new)
            with _interruptible(controller, display):
                return Done(group, controller.run(only))


def _create(runs: Path, name: str | None, plan: Plan, data: tuple[str, ...]) -> Group:
    try:
        return create_group(runs, name, plan, data)
    except OSError as error:
        raise DataError(f"no group can be made in {runs}: {error}", fix="Name another folder: --runs DIR") from error


def existing(runs: Path, name: str | None, plan: Plan | None) -> Group | None:
    """The group to go on with, if there is one. Raises UsageError for another plan than its own."""
    if name is None:
        if plan is None:
            raise UsageError("neither a plan nor a group is named")
        return None
    folder = runs / name
    if plan is not None and not is_group(folder):
        return None
    group = open_group(folder)
    if plan is not None and plan != group.plan:
        raise UsageError(
            f"the group {name} has another plan: {_difference(plan, group.plan)}",
            fix=f"Go on with it as it is: mlecore runs resume {name}. Or begin another group.",
        )
    return group


def _difference(wanted: Plan, there: Plan) -> str:
    """The first line in which two plans differ."""
    ours, theirs = write_plan(wanted).splitlines(), write_plan(there).splitlines()
    for mine, its in zip(ours, theirs, strict=False):
        if mine != its and not mine.startswith(("retries", "max_parallel")):
            return f"it has `{its}`, asked for is `{mine}`"
    return "one names more than the other"


@contextmanager
def _interruptible(controller: Controller, display: Display) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop the controller in order; the second time, at once. Runs go on either way."""
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
