"""Everything that a plan names, loaded and checked before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from attrs import evolve, field, frozen

from mlecore.controller.shown import show
from mlecore.data.layout import DataDirs
from mlecore.data.prepared import Prepared
from mlecore.errors import MlecoreError, NotPrepared, UsageError
from mlecore.model.agents import Agent, FinishedSubmission, Launch, Network, Recipe
from mlecore.model.backends import Backend, Job
from mlecore.model.competition import Competition
from mlecore.model.facts import Facts
from mlecore.model.options import resolve as resolve_options
from mlecore.model.plan import Plan, PlannedAgent
from mlecore.model.provenance import PluginUse, core_use, plugin_use
from mlecore.model.record import RunRecord
from mlecore.model.shown import Shown
from mlecore_toolkit.submissions.guard import largest

if TYPE_CHECKING:
    from pluggy import PluginManager

    from mlecore.detecting.ready import ReadyDetector
    from mlecore.model.report import Report
    from mlecore.plugins.loading import Loaded

Say = Callable[[str], None]
T = TypeVar("T")
_SUBMISSION_LIMIT = 10**9  # bytes, if the competition does not say
_RANK = {"none": 0, "llm": 1, "open": 2}


class Grader(Protocol):
    """What grades: see mlecore.grading.isolated."""

    def grade(
        self, competition: Competition, submission: Path | None, data: Prepared, plugin: PluginUse | None = None
    ) -> Report: ...


@frozen(kw_only=True, eq=False)
class LoadedAgent:
    """An agent of the plan, loaded."""

    planned: PlannedAgent
    agent: Agent
    plugin: Loaded
    use: PluginUse
    recipe: Recipe = field(factory=Recipe)


@frozen(kw_only=True, eq=False)
class Inputs:
    """A competition's data and facts, as runs need them."""

    competition: Competition
    use: PluginUse
    data: Prepared
    reopen: Callable[[], Prepared]  # as they are on disk now; raises NotPrepared, DataError
    shown: Shown  # what agents see of them
    sample_bytes: int
    form: str  # what a submission looks like, for the sandbox's `validate`

    @property
    def facts(self) -> Facts:
        return self.competition.facts

    @property
    def submission_limit(self) -> int:
        """Bytes that a submission may have."""
        return largest(self.sample_bytes)


@frozen(kw_only=True)
class JobDraft:
    """A job without its image, data, tools and labels, and what goes into the record about it."""

    job: Job
    launch: Launch
    launch_digest: str
    instructions_digest: str


@frozen(kw_only=True, eq=False)
class Experiment:
    """A plan with everything that it names. The controller uses nothing else."""

    plan: Plan
    agents: Mapping[str, LoadedAgent]  # by label
    backend: Backend
    backend_use: PluginUse
    data: DataDirs
    inputs: Mapping[str, Inputs]  # by competition
    grader: Grader
    with_installed: bool = False  # grade with the installed plugins, whatever the group began with
    core: PluginUse = field(factory=core_use)
    extensions: PluginManager | None = None
    detectors: tuple[ReadyDetector, ...] = ()  # that judge the runs
    missing_agents: Mapping[str, str] = field(factory=dict)  # label -> why it cannot be used
    missing_inputs: Mapping[str, str] = field(factory=dict)  # competition -> why it cannot be used
    drafts: dict[str, JobDraft | FinishedSubmission] = field(factory=dict)  # by job: what its agent would start

    def missing(self, label: str, competition: str) -> str:
        """Why such a run cannot start; empty if all is there."""
        return self.missing_agents.get(label) or self.missing_inputs.get(competition, "")

    def agent_of(self, label: str) -> LoadedAgent:
        """Raises Missing."""
        if why := self.missing_agents.get(label):
            raise Missing(why)
        return self.agents[label]

    def inputs_of(self, competition: str) -> Inputs:
        """Raises Missing."""
        if why := self.missing_inputs.get(competition):
            raise Missing(why)
        return self.inputs[competition]

    def public_of(self, run: RunRecord) -> Path | None:
        """The public data that a run worked on; None if they are not there."""
        there = self.inputs.get(run.competition)
        return there.data.public if there and run.data_digest in (None, there.data.digest) else None

    def submission_limit(self, competition: str) -> int:
        """Bytes that a submission may have; also if its competition cannot be used: runs are still fetched."""
        there = self.inputs.get(competition)
        return there.submission_limit if there else _SUBMISSION_LIMIT


class Missing(MlecoreError):
    """An agent or a competition of a resumed group cannot be used: its runs stay as they are."""


def load_experiment(
    plan: Plan,
    data: Sequence[str | Path],
    grader: Grader,
    say: Say = lambda text: None,
    *,
    resumed: bool = False,
    with_installed: bool = False,
) -> Experiment:
    """Load all plugins and find all data that a plan names, making synthetic data that are missing.

    Raises UsageError, NotPrepared, PluginError: nothing has started then. Where a group is ``resumed``, an agent or a
    competition that cannot be used affects only its own runs.
    """
    from mlecore.data.layout import DataDirs
    from mlecore.plugins.loading import load_extensions
    from mlecore.plugins.opening import open_backend

    extensions, errors = load_extensions()
    for error in errors:
        say(f"warning: {error}")
    opened = open_backend(plan.backend.name, plan.backend.options)
    agents, missing_agents = _load_each(
        {planned.label: partial(_load_agent, planned, plan) for planned in plan.agents}, resumed
    )
    inputs, missing_inputs = _load_each(
        {id: partial(read_inputs, id, plan, data, say) for id in plan.competitions},
        resumed,
        DataDirs.of(data).flags(plan.data.edition),
    )
    return Experiment(
        plan=plan,
        agents=agents,
        backend=opened.backend,
        backend_use=plugin_use(opened.plugin, opened.options),
        data=DataDirs.of(data),
        inputs=inputs,
        grader=grader,
        with_installed=with_installed,
        extensions=extensions,
        detectors=_load_detectors(plan, say, resumed),
        missing_agents=missing_agents,
        missing_inputs=missing_inputs,
    )


def _load_each(
    loads: Mapping[str, Callable[[], T]], resumed: bool, flags: str = ""
) -> tuple[dict[str, T], dict[str, str]]:
    """What was loaded, and why the rest was not. Unless ``resumed``, raises the first error; NotPrepared for all."""
    loaded, missing = {}, {}
    unprepared: dict[str, NotPrepared] = {}
    for name, load in loads.items():
        try:
            loaded[name] = load()
        except MlecoreError as error:
            if resumed:
                missing[name] = str(error)
            elif isinstance(error, NotPrepared):
                unprepared[name] = error
            else:
                raise
    if len(unprepared) > 1:
        raise _not_prepared(tuple(unprepared), tuple(loads), flags)
    for single in unprepared.values():
        raise single
    return loaded, missing


def _not_prepared(ids: Sequence[str], wanted: Sequence[str], flags: str) -> NotPrepared:
    """One error for all, with one command that prepares them: by their split if the whole of it is wanted."""
    from mlecore.plugins.competitions import of_split, split_names

    some = ", ".join(ids[:3]) + (" ..." if len(ids) > 3 else "")
    splits = {split: {competition.id for competition in of_split(split)} for split in split_names()}
    whole = next((split for split, members in splits.items() if set(ids) <= members <= set(wanted)), None)
    command = f"mlecore prepare {f'--split {whole}' if whole else ' '.join(ids)}{flags}"
    return NotPrepared(
        f"the data of {len(ids)} of {len(wanted)} competitions are not prepared: {some}",
        fix=f"Prepare them: {command} (or use synthetic data: --synthetic)",
    )


def _load_detectors(plan: Plan, say: Say, resumed: bool) -> tuple[ReadyDetector, ...]:
    """Those that judge the runs. One that is only installed may lack something; one with options must not."""
    from mlecore.detecting.ready import choose

    if not plan.execution.detect:
        return ()
    try:
        chosen, remarks = choose((), plan.execution.detectors)
    except MlecoreError as error:
        if not resumed:
            raise
        chosen, remarks = [], [f"no detector judges the runs: {error.message}"]
    for remark in remarks:
        say(remark)
    return tuple(chosen)


def _load_agent(planned: PlannedAgent, plan: Plan) -> LoadedAgent:
    from mlecore.plugins.loading import load

    loaded = load("agent", planned.name)
    agent: Agent = loaded.call("agent")
    options = resolve_options(agent.options, planned.options, f"agent {planned.name}")
    recipe = loaded.call("recipe", options=options) if loaded.implements("recipe") else Recipe()
    needs, limits = agent.needs, plan.limits_of(planned)
    if needs.model and not planned.model:
        raise UsageError(f"agent {planned.name} needs a model, and none is given", fix="Name one: --model NAME")
    if planned.model and not agent.uses_model:
        raise UsageError(f"agent {planned.name} uses no model", fix=f"Leave out --model {planned.model} for it.")
    if needs.gpus > limits.gpus:
        raise UsageError(
            f"agent {planned.name} needs {needs.gpus} GPUs a run, and the plan gives it {limits.gpus}",
            fix=f"Give it more: --gpus {needs.gpus}",
        )
    if limits.mcp and not agent.takes_mcp:
        raise UsageError(
            f"agent {planned.name} takes no MCP servers, and the plan names {', '.join(limits.mcp)}",
            fix="Leave them out (--mcp), or run this agent in a separate plan.",
        )
    require_network(planned.name, needs.network, limits.network)
    return LoadedAgent(
        planned=evolve(planned, options=options),
        agent=agent,
        plugin=loaded,
        use=plugin_use(loaded.plugin, options),
        recipe=recipe or Recipe(),
    )


def require_network(agent: str, wanted: Network, given: Network) -> None:
    """Raises UsageError if an agent wants more of the network than its runs get."""
    if _RANK[wanted] <= _RANK[given]:
        return
    how = (
        "--network gives it an open one" if wanted == "open" else "--model and --endpoint give it a relay to its model"
    )
    raise UsageError(f"agent {agent} needs the network ({wanted}), but its runs have {given}", fix=how)


def read_inputs(id: str, plan: Plan, data: Sequence[str | Path], say: Say) -> Inputs:
    """A competition's data; synthetic data and data that need no account are prepared if they are missing.

    Raises DataError if the data were changed after they were prepared.
    """
    from mlecore.data.opening import open_prepared
    from mlecore.data.recheck import require_unchanged
    from mlecore.data.sources import Synthetic, has_synthetic
    from mlecore.model.sample import sample_bytes
    from mlecore.plugins.competitions import competition

    target = competition(id, plan.data.edition)
    synthetic = plan.data.synthetic and has_synthetic(target)
    dirs = DataDirs.of(data)
    try:
        prepared = open_prepared(target, dirs, synthetic=synthetic)
        require_unchanged(prepared, dirs, everything=plan.execution.verify_data, say=say)
    except NotPrepared:
        if not synthetic and target.facts.kaggle is not None:
            raise
        from mlecore.data.preparing import prepare

        say(f"preparing {'synthetic data of ' if synthetic else ''}{id}")
        prepared = prepare(target, dirs, Synthetic() if synthetic else None).prepared
    shown = show(target.facts, prepared, dirs, plan.data.obfuscate)
    sample = shown.sample
    return Inputs(
        competition=target,
        use=plugin_use(target.plugin),
        data=prepared,
        reopen=partial(open_prepared, target, dirs, synthetic=synthetic),
        shown=shown,
        sample_bytes=sample.stat().st_size if sample else sample_bytes(target.facts, prepared.public),
        form=shown.format.to_json(own_rules=target.own_rules),
    )
