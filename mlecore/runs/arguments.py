"""The arguments of ``mlecore.run``, which are also flags of ``mlecore run``: another way to write a plan.

An experiment has one form: arguments become the dictionary of a plan's TOML file, which one parser turns into a plan.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar, get_type_hints

from attrs import fields

from mlecore.errors import UsageError
from mlecore.model.agents import Network
from mlecore.model.plan import Execution, Plan
from mlecore.model.record import Obfuscation
from mlecore.runs.planning import carried_out, make_plan, read_plan, require_no_secret
from mlecore.util.validation import path

F = TypeVar("F", bound=Callable[..., object])


class Arguments(TypedDict, total=False):
    """Every argument, by the name of its flag, with its type and its key in a plan, which docs/schemas/plan.md
    explains. None: not given. Where a list is expected, a single text stands for a list of one."""

    agent: Annotated[
        str | Sequence[str | Mapping[str, Any]] | None, "agents.name"
    ]  # several: names, or tables of a plan
    options: Annotated[Mapping[str, str] | None, "agents.options"]
    competition: Annotated[str | Sequence[str] | None, "competitions"]
    split: Annotated[str | Sequence[str] | None, "split"]
    seeds: Annotated[int | str | Sequence[int] | None, "seeds"]
    backend: Annotated[str | None, "backend.name"]
    backend_options: Annotated[Mapping[str, str] | None, "backend.options"]
    time_limit: Annotated[str | float | None, "limits.time"]
    cpus: Annotated[float | None, "limits.cpus"]
    memory: Annotated[str | int | None, "limits.memory"]
    gpus: Annotated[int | None, "limits.gpus"]
    disk: Annotated[str | int | None, "limits.disk"]
    network: Annotated[Network | None, "limits.network"]
    allow: Annotated[str | Sequence[str] | None, "limits.allow"]
    mcp: Annotated[Mapping[str, Mapping[str, Any]] | None, "limits.mcp"]
    secret: Annotated[str | Sequence[str] | None, "limits.secrets"]
    model: Annotated[str | None, "model.name"]
    endpoint: Annotated[str | None, "model.endpoint"]
    gateway: Annotated[Mapping[str, Any] | None, "gateway"]
    edition: Annotated[str | None, "data.edition"]
    synthetic: Annotated[bool | None, "data.synthetic"]
    obfuscate: Annotated[Obfuscation | None, "data.obfuscate"]
    max_parallel: Annotated[int | None, "execution.max_parallel"]
    retries: Annotated[int | None, "execution.retries"]
    model_check: Annotated[bool | None, "execution.model_check"]  # this and the next: not on the command line
    verify_data: Annotated[bool | None, "execution.verify_data"]
    detect: Annotated[bool | None, "execution.detect"]
    detectors: Annotated[Mapping[str, Mapping[str, str]] | None, "execution.detectors"]


def plan_of(plan: Plan | Mapping[str, Any] | Path | str | None, arguments: Mapping[str, object]) -> Plan:
    """The plan of ``mlecore run`` or ``mlecore.run``: from a plan (a value, a dictionary, a file) or from arguments.

    With a plan, the only arguments allowed are those of its execution. Raises UsageError.
    """
    if unknown := [name for name in arguments if name not in Arguments.__annotations__]:
        raise UsageError(f"unknown argument {unknown[0]!r}; available: {', '.join(Arguments.__annotations__)}")
    given = {name: value for name, value in arguments.items() if value is not None}
    if plan is None:
        return require_no_secret(make_plan(as_dictionary(given)))
    execution = {key.name: given.pop(key.name, None) for key in fields(Execution)}
    if given:
        raise UsageError(f"a plan cannot be combined with {', '.join(given)}", fix="Change the plan instead.")
    if isinstance(plan, Mapping):
        plan = make_plan(plan)
    elif not isinstance(plan, Plan):
        plan = read_plan(path(plan, "a plan"))
    return require_no_secret(carried_out(plan, **execution))


def as_dictionary(arguments: Mapping[str, object]) -> dict[str, Any]:
    """Arguments as the dictionary of a plan. Raises UsageError."""
    keys = get_type_hints(Arguments, include_extras=True)
    values: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, str) and name in _LISTS:
            value = [value]
        table, _, key = keys[name].__metadata__[0].rpartition(".")
        (values.setdefault(table, {}) if table else values)[key] = value
    agent = values.pop("agents", {})
    named = agent.get("name")
    if named is None or isinstance(named, str):
        return {"agents": [agent], **values} if named else values
    if "options" in agent:
        raise UsageError(
            "options belong to one agent, and several are named",
            fix='Give each its own: agent=[{"name": "aide", "options": {"steps": "100"}}, "baseline"]',
        )
    return {"agents": [each if isinstance(each, Mapping) else {"name": each} for each in named], **values}


_LISTS = ("competition", "allow", "secret")


def lists_arguments(function: F) -> F:
    """Shows every argument in the signature of a function that takes ``**arguments``, for help() and notebooks."""
    signature = inspect.signature(function)
    named = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation.__origin__)
        for name, annotation in get_type_hints(Arguments, include_extras=True).items()
    ]
    function.__signature__ = signature.replace(parameters=[*more, *named])  # type: ignore[attr-defined]
    return function
