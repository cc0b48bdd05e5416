"""A plan: which agents with which options on which competitions with which seeds, where, and with what limits.

The classes are the schema of its file; ``planning`` makes plans and writes them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from attrs import asdict, evolve, field, frozen

from mlecore.errors import UsageError
from mlecore.model.options import Options, Variable
from mlecore.model.record import Limits, Obfuscation
from mlecore.util.schema import Written
from mlecore.util.units import Size, TimeLimit

FORMAT = 1


def read_seeds(value: object) -> tuple[int, ...]:
    """Seeds from how many there are, or from a list of them: ``3``, ``[0, 3, 7]``, ``"0,3,7"``. Raises UsageError."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,20}(,[0-9]{1,20})*,?", value):
        value = [*map(int, filter(None, value.split(",")))] if "," in value else int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**6:
        return tuple(range(value))
    items = value if isinstance(value, (list, tuple, range)) else (None,)
    if not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in items):
        raise UsageError("expected how many seeds (at least 1), or which: whole numbers, as in 0,3,7")
    return tuple(items)


def read_texts(value: object) -> tuple[str, ...]:
    """One text, or a list of texts. Raises UsageError."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise UsageError("expected text, or a list of texts")
    return tuple(texts)


Texts = Annotated[tuple[str, ...], Written(read_texts, "text, or a list of texts")]
Seeds = Annotated[tuple[int, ...], Written(read_seeds, "how many (3 means 0, 1, 2), or a list of whole numbers")]


@frozen(kw_only=True)
class OwnLimits:
    """Limits of one agent's runs, for studies of time and hardware; default: those of the plan."""

    time: TimeLimit | None = None  # of an attempt
    cpus: float | None = None  # that a run may use
    memory: Size | None = None  # without swap
    gpus: int | None = None  # how many


@frozen(kw_only=True)
class PlannedAgent:
    """An agent with its options, and with its own model and limits if it has them."""

    name: str  # of the agent's plugin
    label: str = ""  # names its runs, unique in the plan; default: the name, with a number where that is taken
    options: Options = field(factory=dict)  # the agent's, by name
    model: str | None = None  # that it works with; default: the one of [model]
    endpoint: str | None = None  # URL of its model; default: the one of [model]
    limits: OwnLimits = OwnLimits()  # of its runs, where they differ from those of the plan


@frozen(kw_only=True)
class PlannedBackend:
    """Where agents run."""

    name: str = "vm"  # of the backend's plugin
    options: Options = field(factory=dict)  # the backend's, by name


@frozen(kw_only=True)
class PlannedModel:
    """The model of all agents that have none of their own."""

    name: str | None = None  # as the endpoint knows it
    endpoint: str | None = None  # URL


Prices = Mapping[str, Mapping[str, float]]


@frozen(kw_only=True)
class PlannedGateway:
    """The model calls that each run may make if its network is "llm"."""

    key: Variable | None = None  # the variable that holds the real key; default: the usual one of a known provider
    models: Texts = ()  # that may be called beside the agent's own
    any_model: bool = False  # let calls to others through, too, and list them
    allow: Texts = ()  # "POST /v1/images/*": calls to forward beside those of the model
    server_tools: bool = False  # let the provider run tools (web search, code) and keep conversations
    budgets: Texts = ()  # "5usd", "2Mtok", "500calls": beyond the first that is used up, calls are rejected
    # model -> input, output, cached, cache_write in US dollars per million tokens; tool of the provider -> use, in US
    # dollars each
    prices: Prices = field(factory=dict)
    retries: int = 0  # of calls that the endpoint answered with 429 or 5xx
    max_calls: int | None = None  # at once, over all runs on the backend's machine
    transcripts: bool = False  # keep requests and responses


@frozen(kw_only=True)
class PlannedData:
    """Which data the agents get."""

    edition: str = "v1"  # of the competitions
    synthetic: bool = False  # use synthetic data: no account, no medals
    obfuscate: Obfuscation = "none"  # hide from agents which competition it is; full: rename what is in its tables, too


@frozen(kw_only=True)
class Execution:
    """How the plan is carried out. It may change when a group is resumed, unlike the rest of the plan."""

    max_parallel: int | None = None  # runs at once; default: as many as the backend has room for
    retries: int = 2  # new attempts after infrastructure failures
    model_check: bool = True  # call each model once before anything starts: key, name and quota are right
    verify_data: bool = False  # compare the content of all prepared files with their hashes before anything starts
    detect: bool = True  # have the installed detectors judge each run
    detectors: Mapping[str, Options] = field(factory=dict)  # options of detectors, by detector and name


@frozen(kw_only=True)
class Plan:
    """A whole experiment. Every agent works on every competition with every seed."""

    format: int = FORMAT  # of this file
    agents: tuple[PlannedAgent, ...] = ()  # at least one
    competitions: tuple[str, ...] = ()  # ids; at least one, or a split
    split: Texts = ()  # lite, low, medium, high, dev, mle-bench-30; in a group's plan their competitions stand instead
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

    def limits_of(self, agent: PlannedAgent) -> Limits:
        """The limits of this agent's runs. There is no relay if it would let nothing through."""
        limits = evolve(self.limits, **{key: own for key, own in asdict(agent.limits).items() if own is not None})
        if limits.network != "llm" or agent.endpoint or limits.allow:
            return limits
        return evolve(limits, network="none")

    def __len__(self) -> int:
        return len(self.agents) * len(self.competitions) * len(self.seeds)


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
        """The name of the run's folder."""
        return f"{self.agent.label}--{self.competition}--{self.seed}"

    def uid(self, group_uid: str) -> str:
        """The run's uid. It follows from the group's random one, so that planned runs need no file."""
        return hashlib.sha256(f"{group_uid}/{self.name}".encode()).hexdigest()[:12]
