"""Reads and writes plans: a dictionary or a TOML file becomes a plan with every default filled in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve

from mlecore.errors import MlecoreError, UsageError, redacted
from mlecore.model.agents import Agent
from mlecore.model.options import names_variable
from mlecore.model.plan import FORMAT, Plan, PlannedAgent, PlannedModel
from mlecore.model.record import Limits
from mlecore.runs.plan_checks import check_plan, netloc
from mlecore.util.schema import SchemaError, parse_toml, plain, read_toml, structure
from mlecore.util.units import write_duration


def make_plan(values: Mapping[str, Any]) -> Plan:
    """The plan of a dictionary, with every default filled in. Raises UsageError that names the key."""
    if values.get("format", FORMAT) != FORMAT:
        raise UsageError(f"the plan has an unsupported format, expected {FORMAT}", fix="Update mlecore.")
    try:
        plan = structure(Plan, values)
    except SchemaError as error:
        raise UsageError(error.message) from None
    return check_plan(_filled_in(plan, network_given="network" in values.get("limits", ())))


def carried_out(plan: Plan, **execution: Any) -> Plan:
    """The same plan with another execution. None: as in the plan."""
    changes = {name: value for name, value in execution.items() if value is not None}
    return check_plan(evolve(plan, execution=evolve(plan.execution, **changes)))


def require_no_secret(plan: Plan) -> Plan:
    """A plan is written to disk, so it names the variables of secrets. Raises UsageError without the secret."""
    values = _flat(_as_written(plan))
    for key in ("gateway.key", "limits.secrets"):
        if not all(map(names_variable, _texts(values.get(key, ())))):
            raise UsageError(
                f"{key} names a variable that is not set, or is a secret itself",
                fix=f"{'-G key=' if key == 'gateway.key' else '--secret '}MY_API_KEY takes it from the variable "
                "MY_API_KEY.",
            )
    for key, value in values.items():
        if any(redacted(text) != text for text in _texts(value)):
            raise UsageError(
                f"{key} contains a secret, and a plan is written to disk",
                fix="Put it into an environment variable: -G key=NAME is for a model's, --secret NAME for an agent's.",
            )
    return plan


def _texts(value: object) -> list[str]:
    return list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)]


def parse_plan(text: str) -> Plan:
    """The plan of a TOML text. Raises UsageError."""
    try:
        return make_plan(parse_toml(text.encode()))
    except SchemaError as error:
        raise UsageError(error.message) from None


def read_plan(path: Path, *, below: Path | None = None) -> Plan:
    """The plan of a TOML file; follows no link from the folder ``below`` on. Raises UsageError that names the file and
    the key."""
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

    return "# The whole experiment; `mlecore run --plan` takes such a file.\n" + tomli_w.dumps(_as_written(plan))


def difference(plan: Plan, other: Plan) -> str | None:
    """The first key in which two plans differ, with both values."""
    ours, theirs = _flat(_as_written(plan)), _flat(_as_written(other))
    for key in [*theirs, *ours]:
        if ours.get(key) != theirs.get(key) and not key.startswith("execution."):
            there, here = (repr(flat[key]) if key in flat else "not set" for flat in (theirs, ours))
            return f"{key} is {there} there, and {here} here"
    return None


def _filled_in(plan: Plan, *, network_given: bool) -> Plan:
    """The plan as a group stores it: splits, and defaults that depend on installed plugins, are written out."""
    agents = [_with_model(agent, plan.model) for agent in _labelled(plan.agents)]
    competitions = dict.fromkeys(id for split in plan.split for id in _split_competitions(split))
    for id in plan.competitions:
        competitions.pop(id, None)
    limits = _with_mcp(plan.limits)
    relayed = limits.allow or any(agent.model or agent.endpoint for agent in agents)
    return evolve(
        plan,
        agents=tuple(agents),
        competitions=(*plan.competitions, *competitions),
        split=(),
        model=PlannedModel(),
        limits=evolve(limits, network="llm") if relayed and not network_given else limits,
    )


def _with_model(agent: PlannedAgent, shared: PlannedModel) -> PlannedAgent:
    """The agent with the plan's model, if it uses one and has none itself."""
    if not (shared.name or shared.endpoint) or not (agent.model or _uses_model(agent.name)):
        return agent
    return evolve(agent, model=agent.model or shared.name, endpoint=agent.endpoint or shared.endpoint)


def _uses_model(agent: str) -> bool:
    from mlecore.plugins.loading import load

    try:
        declared: Agent = load("agent", agent).call("agent")
    except MlecoreError:  # the run reports why it cannot be loaded
        return True
    return declared.uses_model


def _with_mcp(limits: Limits) -> Limits:
    """Adds MCP servers to the allowed hosts, and the variables of their headers to the agent's secrets."""
    hosts = [netloc(name, server.url) for name, server in limits.mcp.items()]
    headers = [variable for server in limits.mcp.values() for variable in server.headers.values()]
    return evolve(
        limits,
        allow=tuple(dict.fromkeys((*limits.allow, *hosts))),
        secrets=tuple(dict.fromkeys((*limits.secrets, *headers))),
    )


def _labelled(agents: Sequence[PlannedAgent]) -> Iterator[PlannedAgent]:
    """Agents without a label get a unique one."""
    taken = Counter(agent.label for agent in agents if agent.label)
    for label, times in taken.items():
        if times > 1 or not _LABEL.fullmatch(label):
            raise UsageError(
                f"{label!r} cannot be a label: letters, digits, . _ and single -, at most 100, and no label twice"
            )
    numbers = Counter[str]()
    for agent in agents:
        base = label = agent.label or re.sub(r"[^A-Za-z0-9._-]+|--+", "-", agent.name).strip("-.") or "agent"
        while not agent.label and label in taken:
            numbers[base] += 1
            label = f"{base}-{numbers[base] + 1}"
        taken[label] += 1
        yield evolve(agent, label=label)


_LABEL = re.compile(r"(?!.*--)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # a run's folder is named after it


def _split_competitions(split: str) -> list[str]:
    from mlecore.plugins.competitions import EXTRAS, of_split

    found = [competition.id for competition in of_split(split)]
    if not found:
        raise UsageError(
            f"no competition of the split {split} is installed",
            fix=f"pip install 'mlecore[{EXTRAS.get(split, 'all')}]'",
        )
    return found


def _as_written(plan: Plan) -> dict[str, Any]:
    """The dictionary of a plan, as a person would write it."""
    values = plain(plan)
    for limits in (values["limits"], *(agent["limits"] for agent in values["agents"])):
        limits["time"] = limits["time"] and write_duration(limits["time"])
    if plan.seeds == tuple(range(len(plan.seeds))):
        values["seeds"] = len(plan.seeds)
    written: dict[str, Any] = _without_empty(values)
    return written


def _without_empty(value: Any) -> Any:
    """Removes nulls, which TOML does not have, and empty tables and lists, which are the default."""
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
    parts = {f"{path}{'.' if path and key[:1] != '[' else ''}{key}": value for key, value in values.items()}
    return {key: value for name, part in parts.items() for key, value in _flat(part, name).items()}
