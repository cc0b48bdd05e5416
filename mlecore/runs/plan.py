"""A plan: which agents with which options on which competitions with which seeds, where, and with what limits."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from mlecore.errors import UsageError
from mlecore.runs.record import Limits
from mlecore.units import duration, size

FORMAT = 1


@frozen(kw_only=True)
class PlannedAgent:
    """One row of the experiment: an agent with its options, and with a model of its own if it has one."""

    name: str
    label: str  # names its runs; unique in the plan
    options: Mapping[str, str] = field(factory=dict)
    model: str | None = None
    endpoint: str | None = None


@frozen(kw_only=True)
class Plan:
    """A whole experiment. ``max_parallel`` and ``retries`` say how to run it and may change when it goes on."""

    agents: tuple[PlannedAgent, ...]
    competitions: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    backend: str = "vm"
    backend_options: Mapping[str, str] = field(factory=dict)
    limits: Limits = field(factory=Limits)
    edition: str = "v1"
    synthetic: bool = False
    max_parallel: int | None = field(default=None, eq=False)
    retries: int = field(default=2, eq=False)

    def runs(self) -> Iterator[PlannedRun]:
        """Every run, in the order of the plan."""
        for agent in self.agents:
            for competition in self.competitions:
                for seed in self.seeds:
                    yield PlannedRun(agent, competition, seed)

    def __len__(self) -> int:
        return len(self.agents) * len(self.competitions) * len(self.seeds)


@frozen
class PlannedRun:
    """One cell of the matrix."""

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
        """Random as the group's uid is, and the same whenever it is asked for: planned runs need no file."""
        return hashlib.sha256(f"{group_uid}/{self.name}".encode()).hexdigest()[:12]


AgentRow = tuple[str, str | None, Mapping[str, str], str | None, str | None]


def make_agents(agents: Sequence[AgentRow]) -> tuple[PlannedAgent, ...]:
    """Agents from (name, label, options, model, endpoint); those without a label get one that tells them apart."""
    taken: set[str] = set()
    out = []
    for name, label, options, model, endpoint in agents:
        if label is not None and (not _LABEL.fullmatch(label) or label in taken):
            raise UsageError(f"{label!r} cannot be a label: letters, digits, . _ and single -, and no label twice")
        base = label or re.sub(r"[^A-Za-z0-9._-]+|--+", "-", name).strip("-.") or "agent"
        label, number = base, 1
        while label in taken:
            number += 1
            label = f"{base}-{number}"
        taken.add(label)
        out.append(PlannedAgent(name=name, label=label, options=dict(options), model=model, endpoint=endpoint))
    return tuple(out)


_LABEL = re.compile(r"(?!.*--)[A-Za-z0-9][A-Za-z0-9._-]*")


def read_plan(path: Path) -> Plan:
    """From a TOML file. Raises UsageError that names the file and what is wrong in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"there is no plan {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the plan {path} cannot be read: {error}") from None
    try:
        return parse_plan(text)
    except UsageError as error:
        raise UsageError(f"{path}: {error.message}", fix=error.fix) from None


def parse_plan(text: str) -> Plan:
    """From TOML text. Raises UsageError."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(str(error)) from None
    if values.pop("format", FORMAT) != FORMAT:
        raise UsageError(f"a plan of another format than {FORMAT}; update mlecore")
    top = _Keys(values, "the plan")
    backend = _Keys(top.take("backend", dict, {}), "[backend]")
    limits = _Keys(top.take("limits", dict, {}), "[limits]")
    data = _Keys(top.take("data", dict, {}), "[data]")
    how = _Keys(top.take("run", dict, {}), "[run]")
    model = _Keys(top.take("model", dict, {}), "[model]")
    name, endpoint = model.take("name", str), model.take("endpoint", str)
    plan = Plan(
        agents=_agents(top.take("agents", list, []), name, endpoint),
        competitions=_competitions(top),
        seeds=_seeds(top.take("seeds", (int, list), 1)),
        backend=backend.take("name", str, "vm"),
        backend_options=_options(backend.take("options", dict, {}), "[backend.options]"),
        limits=Limits(
            time=duration(limits.take("time", (str, int, float), "24h")),
            cpus=_maybe(float, limits.take("cpus", (int, float))),
            memory=_maybe(size, limits.take("memory", (str, int))),
            gpus=limits.take("gpus", int, 0),
            disk=_maybe(size, limits.take("disk", (str, int))),
            network=limits.take("network", str, "llm" if name or endpoint else "none"),
            allow=tuple(map(str, limits.take("allow", list, []))),
        ),
        edition=data.take("edition", str, "v1"),
        synthetic=data.take("synthetic", bool, False),
        max_parallel=how.take("max_parallel", int),
        retries=how.take("retries", int, 2),
    )
    for keys in (top, backend, limits, data, how, model):
        keys.done()
    return validated(plan)


def validated(plan: Plan) -> Plan:
    """The plan, if it makes sense in itself. Raises UsageError."""
    if not plan.agents:
        raise UsageError("no agent is named")
    if not plan.competitions:
        raise UsageError("no competition is named")
    if not plan.seeds:
        raise UsageError("no seed is named")
    for what, items in (("competition", plan.competitions), ("seed", plan.seeds)):
        twice = [item for item, times in Counter[object](items).items() if times > 1]
        if twice:
            raise UsageError(f"{what} {twice[0]} is named twice")
    if plan.limits.network not in ("none", "llm", "open"):
        raise UsageError(f"network must be none, llm or open, not {plan.limits.network!r}")
    limits = (("cpus", plan.limits.cpus), ("memory", plan.limits.memory), ("disk", plan.limits.disk))
    for what, value in (*limits, ("max_parallel", plan.max_parallel)):
        if value is not None and value <= 0:
            raise UsageError(f"{what} must be more than 0, not {value}")
    if plan.limits.gpus < 0 or plan.retries < 0:
        raise UsageError("gpus and retries cannot be less than 0")
    return plan


class _Keys:
    """A table of the file, taken apart key by key, so that what is left over is a mistake."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = dict(values)
        self.where = where

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        if key not in self.values:
            return default
        value = self.values.pop(key)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise UsageError(f"{self.where}: {key} = {value!r} should be {' or '.join(_KINDS[k] for k in kinds)}")
        return value

    def done(self) -> None:
        if self.values:
            raise UsageError(f"{self.where}: unknown key {next(iter(self.values))!r}")


_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table"}


def _agents(items: list[Any], model: str | None, endpoint: str | None) -> tuple[PlannedAgent, ...]:
    found = []
    for item in items:
        if not isinstance(item, dict):
            raise UsageError("agents must be tables: [[agents]]")
        keys = _Keys(item, "[[agents]]")
        name = keys.take("name", str)
        if not name:
            raise UsageError("[[agents]]: name is missing")
        options = _options(keys.take("options", dict, {}), "[agents.options]")
        own = keys.take("label", str), options, keys.take("model", str, model), keys.take("endpoint", str, endpoint)
        keys.done()
        found.append((name, *own))
    return make_agents(found)


def _options(values: Mapping[str, Any], where: str) -> dict[str, str]:
    """Options are text, as on the command line; TOML's own numbers and booleans are allowed."""
    out = {}
    for name, value in values.items():
        if isinstance(value, bool):
            out[name] = "true" if value else "false"
        elif isinstance(value, (str, int, float)):
            out[name] = str(value)
        else:
            raise UsageError(f"{where}: {name} must be text, a number or a boolean")
    return out


def _competitions(top: _Keys) -> tuple[str, ...]:
    named = top.take("competitions", list, [])
    split = top.take("split", str)
    if split is not None:
        named = [*named, *split_competitions(split)]
    if not all(isinstance(item, str) for item in named):
        raise UsageError("competitions must be a list of ids")
    return tuple(named)


def split_competitions(split: str) -> list[str]:
    """Ids of the installed competitions of a split. Raises UsageError where there are none."""
    from mlecore.competitions import of_split

    found = [competition.id for competition in of_split(split)]
    if not found:
        raise UsageError(f"no competition of the split {split} is installed", fix=f"pip install 'mlecore[{split}]'")
    return found


def _seeds(value: int | list[Any]) -> tuple[int, ...]:
    if isinstance(value, int):
        if not 1 <= value <= 10**6:
            raise UsageError(f"seeds = {value}: a number of seeds, at least 1, or a list of them")
        return tuple(range(value))
    if not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in value):
        raise UsageError("seeds must be whole numbers")
    return tuple(value)


def _maybe(convert: Any, value: Any) -> Any:
    return None if value is None else convert(value)


def write_plan(plan: Plan) -> str:
    """TOML text that ``parse_plan`` reads back as the same plan."""
    limits = plan.limits
    lines = [
        "# The whole experiment; `mlecore run --plan` takes such a file.",
        f"format = {FORMAT}",
        f"competitions = {_list(plan.competitions)}",
        f"seeds = {list(plan.seeds)}",
    ]
    for agent in plan.agents:
        lines += ["", "[[agents]]", f"name = {_text(agent.name)}", f"label = {_text(agent.label)}"]
        lines += [f"{key} = {_text(value)}" for key in ("model", "endpoint") if (value := getattr(agent, key))]
        lines += _table("agents.options", agent.options)
    lines += ["", "[backend]", f"name = {_text(plan.backend)}", *_table("backend.options", plan.backend_options)]
    lines += ["", "[limits]", f'time = "{_time(limits.time)}"', f"network = {_text(limits.network)}"]
    lines += [f"{key} = {value}" for key in ("cpus", "memory", "disk") if (value := getattr(limits, key)) is not None]
    lines += [f"gpus = {limits.gpus}", f"allow = {_list(limits.allow)}"]
    lines += ["", "[data]", f"edition = {_text(plan.edition)}", f"synthetic = {'true' if plan.synthetic else 'false'}"]
    lines += ["", "[run]", f"retries = {plan.retries}"]
    if plan.max_parallel is not None:
        lines.append(f"max_parallel = {plan.max_parallel}")
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    for unit, name in ((3600, "h"), (60, "m")):
        if seconds % unit == 0:
            return f"{seconds / unit:.0f}{name}"
    return f"{seconds!r}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _table(name: str, values: Mapping[str, str]) -> list[str]:
    return [f"[{name}]", *(f"{_key(key)} = {_text(value)}" for key, value in values.items())] if values else []


def _list(items: Sequence[str]) -> str:
    return "[" + ", ".join(map(_text, items)) + "]"


def _text(value: str) -> str:
    """A TOML basic string: JSON's escapes are a subset of TOML's, but for DEL."""
    import json

    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f") if value.isascii() else _escaped(value)


def _escaped(value: str) -> str:
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in value) + '"'
