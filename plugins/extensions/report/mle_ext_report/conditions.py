"""What results depend on besides the agent. Runs that differ in it are averaged or compared only on request."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from mlecore.model.backends import Hardware
from mlecore.model.record import RunRecord
from mlecore.util.units import counted, show_duration, show_size, write_duration

OF_A_COMPETITION = ("kind of data of ", "data of ", "answers of ", "description of ")
"""Conditions that differ between competitions by their nature."""

OF_THE_AGENT = ("agent's source", "image", "gateway")
"""What may differ between two agents that are compared: it is what the comparison is about."""


def conditions(run: RunRecord) -> dict[str, str]:
    """Each condition in words; "unknown" if it was not recorded. Hardware by its class, not by the machine."""
    limits = run.limits
    values: dict[str, Any] = {
        "edition": run.edition,
        "obfuscation": run.obfuscation,
        "agent's source": f"{run.agent.version} {run.agent.source[:12]} {(run.launch_digest or '')[:12]}".strip(),
        f"kind of data of {run.competition}": run.data_kind,
        f"data of {run.competition}": _short(run.data_digest),
        f"answers of {run.competition}": _short(run.answers_digest),
        f"description of {run.competition}": _short(run.description_digest),
        "image": _short(run.image_digest),
    }
    for plugin in run.plugins:
        values[f"plugin {plugin.name}"] = f"{plugin.version} {plugin.source[:12]}".strip()
    given = {
        "time limit": show_duration(limits.time),
        "CPUs": "no limit" if limits.cpus is None else f"{limits.cpus:g}",
        "memory": "no limit" if limits.memory is None else show_size(limits.memory),
        "GPUs": str(limits.gpus),
        "network": _network(run),
        "gateway": run.endpoint if run.limits.network == "llm" and run.endpoint else "none",
        "gateway rules": ", ".join(sorted(run.access.allow)) if run.access and run.access.allow else "none",
        "server tools": "allowed" if run.access and run.access.server_tools else "not allowed",
        "MCP servers": ", ".join(f"{name}={limits.mcp[name].url}" for name in sorted(limits.mcp)) or "none",
        "backend": f"{run.backend.name} {(run.sandbox and run.sandbox.isolation) or ''}".strip(),
    }
    values |= dict.fromkeys([*given, "hardware class"]) if run.imported_from else given
    if hardware := hardware_class(run.hardware):
        values["hardware class"] = hardware
    return {name: str(value) if value not in (None, "") else "unknown" for name, value in values.items()}


def _network(run: RunRecord) -> str:
    """What runs could reach besides the gateway, and whether that was enforced, which matters as much."""
    if run.limits.network == "open":
        return "open"
    words = " ".join(["closed", *(f"except {host}" for host in run.limits.allow)])
    return f"{words}, {run.sandbox.network.level}" if run.sandbox else words


def hardware_class(hardware: Hardware) -> str:
    """CPUs and GPUs of a job: "8 CPUs, 2 x NVIDIA H200"; empty if they were not measured."""
    if hardware == Hardware():
        return ""
    cpus = f"{hardware.cpus:g} CPUs" if hardware.cpus is not None else "unknown CPUs"
    return ", ".join([cpus, *(f"{count} x {name}" for name, count in sorted(Counter(hardware.gpus).items()))])


def differences(runs: Iterable[RunRecord]) -> dict[str, list[str]]:
    """Conditions that are not the same for all runs -> their values, in order of appearance."""
    return {name: values for name, values in all_conditions(runs).items() if len(values) > 1}


def shared(runs: Iterable[RunRecord]) -> dict[str, str]:
    """Conditions that are the same for all runs, except those of single competitions."""
    return {
        name: values[0]
        for name, values in all_conditions(runs).items()
        if len(values) == 1 and not name.startswith(OF_A_COMPETITION)
    }


def all_conditions(runs: Iterable[RunRecord]) -> dict[str, list[str]]:
    """Each condition -> its values, in order of appearance."""
    seen: dict[str, dict[str, None]] = defaultdict(dict)
    for run in runs:
        for name, value in conditions(run).items():
            seen[name][value] = None
    return {name: list(values) for name, values in seen.items()}


def between(a: Iterable[RunRecord], b: Iterable[RunRecord]) -> dict[str, list[str]]:
    """Conditions that differ between two agents' runs on the same competitions, besides the agents themselves."""
    return {name: values for name, values in differences([*a, *b]).items() if name not in OF_THE_AGENT}


def planned_differences(a: Sequence[RunRecord], b: Sequence[RunRecord]) -> dict[str, tuple[str, str]]:
    """Limits that a plan gives to two of its agents on purpose -> both in words, such as "2 GPUs" and "no GPU".

    Both must have their runs in the same groups. The class of hardware follows from the limits, unless runs did not get
    the number of GPUs that was planned, or models of GPUs differ, or CPUs that nothing limits.
    """
    if not (a and b) or {run.group_uid for run in a} != {run.group_uid for run in b}:
        return {}
    one, other = (dict(_in_words(runs[0])) for runs in (a, b))
    found = {name: (words, other[name]) for name, words in one.items() if words != other[name]}
    got = [runs[0].hardware for runs in (a, b)]
    kinds = {frozenset(hardware.gpus) for hardware in got if hardware.gpus}
    as_planned = all(len(runs[0].hardware.gpus) == runs[0].limits.gpus for runs in (a, b))
    explained = as_planned and len(kinds) < 2 and ("CPUs" in found or got[0].cpus == got[1].cpus)
    if {"CPUs", "GPUs"} & found.keys() and explained and hardware_class(got[0]) != hardware_class(got[1]):
        found["hardware class"] = (hardware_class(got[0]), hardware_class(got[1]))
    return found


def _in_words(run: RunRecord) -> Iterable[tuple[str, str]]:
    limits = run.limits
    yield "time limit", str(write_duration(limits.time))
    yield "CPUs", "no limit of CPUs" if limits.cpus is None else f"{limits.cpus:g} CPU{'s' * (limits.cpus != 1)}"
    yield "memory", "no limit of memory" if limits.memory is None else f"{show_size(limits.memory)} of memory"
    yield "GPUs", counted(limits.gpus, "GPU") if limits.gpus else "no GPU"


def _short(digest: str | None) -> str | None:
    return None if digest is None else digest.removeprefix("sha256:")[:12]
