"""A plan: which agents with which options on which competitions with which seeds, where, and with what limits.

An experiment has one form: arguments of the command line and of ``mlecore.run`` become the dictionary of a plan's TOML
file, and ``make_plan`` makes the plan from it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from attrs import evolve, field, fields, frozen

from mlecore.errors import UsageError
from mlecore.options import Options
from mlecore.runs.record import Limits
from mlecore.schema import SchemaError, Written, parse_toml, plain, read_toml, structure
from mlecore.units import write_duration

FORMAT = 1


def read_seeds(value: object) -> tuple[int, ...]:
    """Seeds from how many there are, or from a list of them. Raises UsageError."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**6:
        return tuple(range(value))
    items = value if isinstance(value, (list, tuple, range)) else (None,)
    if not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in items):
        raise UsageError("expected how many seeds (at least 1), or a list of whole numbers")
    return tuple(items)


Seeds = Annotated[tuple[int, ...], Written(read_seeds, "how many (3 means 0, 1, 2), or a list of whole numbers")]


@frozen(kw_only=True)
class PlannedAgent:
    """An agent with its options, and with its own model if it has one."""

    name: str  # of the agent's plugin
    label: str = ""  # names its runs, unique in the plan; default: the name, with a number where that is taken
    options: Options = field(factory=dict)  # the agent's, by name
    model: str | None = None  # that it works with; default: the one of [model]
    endpoint: str | None = None  # URL of its model; default: the one of [model]


@frozen(kw_only=True)
class PlannedBackend:
    """Where agents run."""

    name: str = "vm"  # of the backend's plugin
    options: Options = field(factory=dict)  # the backend's, by name


@frozen(kw_only=True)
class PlannedModel:
    """The model of all agents that do not name one themselves."""

    name: str | None = None  # as the endpoint knows it
    endpoint: str | None = None  # URL


Prices = Mapping[str, Mapping[str, float]]


@frozen(kw_only=True)
class PlannedGateway:
    """What each run may ask of its model, where the network is "llm"."""

    key: str | None = None  # the variable that holds the real key; default: the usual one of a known provider
    models: tuple[str, ...] = ()  # that may be called beside the agent's own
    any_model: bool = False  # let calls to others through, too, and list them
    budgets: tuple[str, ...] = ()  # "5usd", "2Mtok", "500calls": beyond the first that is used up, calls are refused
    prices: Prices = field(factory=dict)  # model -> input, output, cached, cache_write in US dollars a million tokens
    retries: int = 0  # of calls that the endpoint answered with 429 or 5xx
    max_calls: int | None = None  # at once, over all runs on the backend's machine
    transcripts: bool = False  # keep requests and responses


@frozen(kw_only=True)
class PlannedData:
    """Which data the agents get."""

    edition: str = "v1"  # of the competitions
    synthetic: bool = False  # use synthetic data: no account, no medals


@frozen(kw_only=True)
class Execution:
    """How the plan is carried out. Not part of what it is: may change when a group is resumed."""

    max_parallel: int | None = None  # runs at once; default: as many as the backend has room for
    retries: int = 2  # new attempts after infrastructure failures
    detect: bool = True  # have the installed detectors judge each run
    detectors: Mapping[str, Options] = field(factory=dict)  # options of detectors, by detector and name


@frozen(kw_only=True)
class Plan:
    """A whole experiment. Every agent works on every competition with every seed."""

    format: int = FORMAT  # of this file
    agents: tuple[PlannedAgent, ...] = ()  # at least one
    competitions: tuple[str, ...] = ()  # ids; at least one, or a split
    split: str | None = None  # lite, low, medium, high or dev; in a group's plan its competitions stand instead
    seeds: Seeds = (0,)  # how many (3 means 0, 1 and 2), or which
    backend: PlannedBackend = PlannedBackend()  # where agents run
    # of one run; the network is "llm" by default where a model, an endpoint or an allowed host is named
    limits: Limits = field(factory=Limits)
    model: PlannedModel = PlannedModel()  # a group's plan has it in [[agents]]
    gateway: PlannedGateway = PlannedGateway()  # what runs may ask of their model
    data: PlannedData = PlannedData()  # which data the agents get
    execution: Execution = field(default=Execution(), eq=False)  # how the plan is carried out

    def runs(self) -> Iterator[PlannedRun]:
        """Every run, in the order of the plan."""
        for agent in self.agents:
            for competition in self.competitions:
                for seed in self.seeds:
                    yield PlannedRun(agent, competition, seed)

    def __len__(self) -> int:
        return len(self.agents) * len(self.competitions) * len(self.seeds)

    def carried_out(self, **execution: Any) -> Plan:
        """The same experiment, carried out in another way (see Execution); None: as the plan says."""
        changes = _given(**execution)
        return _validated(evolve(self, execution=evolve(self.execution, **changes)))


@frozen
class PlannedRun:
    """One agent on one competition with one seed."""

    agent: PlannedAgent
    competition: str
    seed: int

    @property
    def label(self) -> str:
        return self.agent.label

    @property
    def name(self) -> str:
        """Of the run's folder."""
        return f"{self.agent.label}--{self.competition}--{self.seed}"

    def uid(self, group_uid: str) -> str:
        """As random as the group's uid, and always the same: planned runs need no file."""
        return hashlib.sha256(f"{group_uid}/{self.name}".encode()).hexdigest()[:12]


def make_plan(values: Mapping[str, Any]) -> Plan:
    """The plan of a dictionary, with every default filled in. Raises UsageError that names the key."""
    if values.get("format", FORMAT) != FORMAT:
        raise UsageError(f"it is a plan of another format than {FORMAT}", fix="Update mlecore.")
    try:
        plan = structure(Plan, values)
    except SchemaError as error:
        raise UsageError(error.message) from None
    return _validated(_filled_in(plan, network_given="network" in values.get("limits", ())))


def parse_plan(text: str) -> Plan:
    """From TOML text. Raises UsageError."""
    try:
        return make_plan(parse_toml(text.encode()))
    except SchemaError as error:
        raise UsageError(error.message) from None


def read_plan(path: Path, *, below: Path | None = None) -> Plan:
    """From a TOML file; no link is followed from the folder ``below`` on. Raises UsageError that names the file and
    what is wrong in it."""
    try:
        values = read_toml(path, below=below)
    except FileNotFoundError:
        raise UsageError(f"there is no plan {path}") from None
    except OSError as error:
        raise UsageError(f"the plan {path} cannot be read: {error}") from None
    except SchemaError as error:
        raise UsageError(error.message) from None
    try:
        return make_plan(values)
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", fix=error.fix) from None


def write_plan(plan: Plan) -> str:
    """TOML text that ``parse_plan`` reads back as the same plan."""
    import tomli_w

    return "# The whole experiment; `mlecore run --plan` takes such a file.\n" + tomli_w.dumps(_spelled(plan))


def difference(plan: Plan, other: Plan) -> str | None:
    """The first key in which two plans differ, with both values."""
    ours, theirs = _flat(_spelled(plan)), _flat(_spelled(other))
    for key in [*theirs, *ours]:
        if ours.get(key) != theirs.get(key) and not key.startswith("execution."):
            there, here = (repr(flat[key]) if key in flat else "not set" for flat in (theirs, ours))
            return f"{key} is {there} there, and {here} here"
    return None


def plan_of(plan: Plan | Mapping[str, Any] | Path | str | None, **arguments: Any) -> Plan:
    """The plan that ``mlecore run`` and ``mlecore.run`` are asked for, by a plan or by ``arguments`` (see ``spell``).

    Beside a plan, arguments can only say how it is carried out. Raises UsageError.
    """
    if plan is None:
        return make_plan(spell(**arguments))
    execution = {key.name: arguments.pop(key.name, None) for key in fields(Execution)}
    if given := ", ".join(_given(**arguments)):
        raise UsageError(f"a plan says it all: leave out {given}, or change the plan")
    if isinstance(plan, Mapping):
        plan = make_plan(plan)
    elif not isinstance(plan, Plan):
        plan = read_plan(Path(plan))
    return plan.carried_out(**execution)


def spell(
    *,
    agent: str | None = None,
    options: Mapping[str, str] | None = None,
    competitions: Sequence[str] | None = None,
    split: str | None = None,
    seeds: int | Sequence[int] | None = None,
    backend: str | None = None,
    backend_options: Mapping[str, str] | None = None,
    time_limit: str | float | None = None,
    cpus: float | None = None,
    memory: str | int | None = None,
    gpus: int | None = None,
    disk: str | int | None = None,
    network: str | None = None,
    allow: Sequence[str] | None = None,
    secrets: Sequence[str] | None = None,
    model: str | None = None,
    endpoint: str | None = None,
    key: str | None = None,
    any_model: bool | None = None,
    budgets: Sequence[str] | None = None,
    prices: Prices | None = None,
    gateway_retries: int | None = None,
    max_calls: int | None = None,
    transcripts: bool | None = None,
    edition: str | None = None,
    synthetic: bool | None = None,
    max_parallel: int | None = None,
    retries: int | None = None,
    detect: bool | None = None,
    detectors: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Arguments as the dictionary of a plan with one agent; None: not given."""
    return _given(
        agents=None if agent is None else [_given(name=agent, options=options)],
        competitions=competitions,
        split=split,
        seeds=seeds,
        backend=_given(name=backend, options=backend_options),
        limits=_given(
            time=time_limit,
            cpus=cpus,
            memory=memory,
            gpus=gpus,
            disk=disk,
            network=network,
            allow=allow,
            secrets=secrets,
        ),
        model=_given(name=model, endpoint=endpoint),
        gateway=_given(
            key=key,
            any_model=any_model,
            budgets=budgets,
            prices=prices,
            retries=gateway_retries,
            max_calls=max_calls,
            transcripts=transcripts,
        ),
        data=_given(edition=edition, synthetic=synthetic),
        execution=_given(max_parallel=max_parallel, retries=retries, detect=detect, detectors=detectors),
    )


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _filled_in(plan: Plan, *, network_given: bool) -> Plan:
    """The plan as a group keeps it: splits and defaults that depend on what is installed are written out."""
    agents = [
        evolve(agent, model=agent.model or plan.model.name, endpoint=agent.endpoint or plan.model.endpoint)
        for agent in _labelled(plan.agents)
    ]
    competitions = dict.fromkeys(_split_competitions(plan.split) if plan.split is not None else ())
    for id in plan.competitions:
        competitions.pop(id, None)
    relayed = plan.limits.allow or any(agent.model or agent.endpoint for agent in agents)
    return evolve(
        plan,
        agents=tuple(agents),
        competitions=(*plan.competitions, *competitions),
        split=None,
        model=PlannedModel(),
        limits=evolve(plan.limits, network="llm") if relayed and not network_given else plan.limits,
    )


def _labelled(agents: Sequence[PlannedAgent]) -> Iterator[PlannedAgent]:
    """Agents without a label get a unique one."""
    taken = Counter(agent.label for agent in agents if agent.label)
    for label, times in taken.items():
        if times > 1 or not _LABEL.fullmatch(label):
            raise UsageError(f"{label!r} cannot be a label: letters, digits, . _ and single -, and no label twice")
    for agent in agents:
        base = label = agent.label or re.sub(r"[^A-Za-z0-9._-]+|--+", "-", agent.name).strip("-.") or "agent"
        number = 1
        while not agent.label and label in taken:
            number += 1
            label = f"{base}-{number}"
        taken[label] += 1
        yield evolve(agent, label=label)


_LABEL = re.compile(r"(?!.*--)[A-Za-z0-9][A-Za-z0-9._-]*")


def _split_competitions(split: str) -> list[str]:
    from mlecore.competitions import of_split

    found = [competition.id for competition in of_split(split)]
    if not found:
        raise UsageError(f"no competition of the split {split} is installed", fix=f"pip install 'mlecore[{split}]'")
    return found


def _validated(plan: Plan) -> Plan:
    """The plan, if it is consistent. Raises UsageError."""
    if not plan.agents:
        raise UsageError("no agent is named", fix="To see them: mlecore plugins list --kind agent")
    if not plan.competitions:
        raise UsageError("no competition and no split is named", fix="To see them: mlecore competitions list")
    if not plan.seeds:
        raise UsageError("no seed is named")
    for what, items in (("competition", plan.competitions), ("seed", plan.seeds)):
        twice = [item for item, times in Counter[object](items).items() if times > 1]
        if twice:
            raise UsageError(f"{what} {twice[0]} is named twice")
    limits = plan.limits
    for what, value in (("cpus", limits.cpus), ("memory", limits.memory), ("disk", limits.disk)):
        if value is not None and not value > 0:  # NaN is not
            raise UsageError(f"limits.{what} must be more than 0, not {value}")
    execution = plan.execution
    if execution.max_parallel is not None and execution.max_parallel <= 0:
        raise UsageError(f"execution.max_parallel must be more than 0, not {execution.max_parallel}")
    _check_gateway(plan)
    for what, number in (
        ("limits.gpus", limits.gpus),
        ("execution.retries", execution.retries),
        ("gateway.retries", plan.gateway.retries),
    ):
        if number < 0:
            raise UsageError(f"{what} cannot be less than 0, and is {number}")
    return plan


def _check_gateway(plan: Plan) -> None:
    from mlecore.gateway.budgets import Budget

    for agent in plan.agents:
        url = urlsplit(agent.endpoint or "http://none")
        if url.scheme not in ("http", "https") or not url.hostname or url.query:
            raise UsageError(f"{agent.endpoint!r} is not an endpoint", fix="Write it like https://api.example.com/v1")
    try:
        for text in plan.gateway.budgets:
            Budget.parse(text)
    except ValueError as error:
        raise UsageError(f"gateway.budgets: {error}") from None
    for model, price in plan.gateway.prices.items():
        unknown = set(price) - {"input", "output", "cached", "cache_write"}
        if unknown or not {"input", "output"} <= set(price) or not all(value >= 0 for value in price.values()):
            raise UsageError(
                f"gateway.prices: that of {model} is none",
                fix="US dollars for a million tokens: {input = 2.5, output = 10}; cached, cache_write if they differ.",
            )
    if plan.gateway.max_calls is not None and plan.gateway.max_calls <= 0:
        raise UsageError(f"gateway.max_calls must be more than 0, not {plan.gateway.max_calls}")


def _spelled(plan: Plan) -> dict[str, Any]:
    """The dictionary of this plan, as a person would write it."""
    values = plain(plan)
    values["limits"]["time"] = write_duration(plan.limits.time)
    if plan.seeds == tuple(range(len(plan.seeds))):
        values["seeds"] = len(plan.seeds)
    spelled: dict[str, Any] = _without_empty(values)
    return spelled


def _without_empty(value: Any) -> Any:
    """Without nulls, which TOML lacks, and empty tables and lists, which are the default."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    if not isinstance(value, dict):
        return value
    items = {key: _without_empty(item) for key, item in value.items()}
    return {key: item for key, item in items.items() if item not in (None, {}, [])}


def _flat(values: Any, path: str = "") -> dict[str, Any]:
    if isinstance(values, list) and values and isinstance(values[0], dict):
        values = {f"[{number}]": value for number, value in enumerate(values)}
    if not isinstance(values, dict):
        return {path: values}
    parts = {f"{path}{'.' if path and key[0] != '[' else ''}{key}": value for key, value in values.items()}
    return {key: value for name, part in parts.items() for key, value in _flat(part, name).items()}
