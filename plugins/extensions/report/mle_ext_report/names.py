"""What a setup is called, on all pages and in all tables: its label, else the shortest text that tells it apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from mlecore.model.record import OBFUSCATED, RunRecord
from mlecore.util.printable import printable

_LONGEST = 40  # characters of an option's value in a name


def names(setups: Sequence[RunRecord], groups: Sequence[str] = ()) -> list[str]:
    """One name for each setup, given by one of its runs; no two are the same.

    ``--label`` where it was given, else the agent. Setups that would then share a name also get their model, edition,
    options, versions and kind of data, but only what differs between them, and of a long option only the words that
    differ; at last their ``groups`` and a number.
    """
    found = [_label(run) or run.agent.name for run in setups]
    more: list[Callable[[Sequence[int]], Mapping[int, str]]] = [
        lambda alike: {n: setups[n].model or "" for n in alike},
        lambda alike: {n: f"edition {setups[n].edition}" for n in alike},
        lambda alike: {n: OBFUSCATED[setups[n].obfuscation] for n in alike},
        lambda alike: _options({n: setups[n].agent.options for n in alike}),
        lambda alike: {n: setups[n].agent.version for n in alike},
        lambda alike: {n: (setups[n].data_kind or "").replace("_", " ") for n in alike},
        lambda alike: {n: groups[n] if groups else "" for n in alike},
        lambda alike: {n: str(number) for number, n in enumerate(alike, 1)},
    ]
    for tell in more:
        for name, times in Counter(found).items():
            alike = [n for n, each in enumerate(found) if each == name]
            parts = tell(alike) if times > 1 else {}
            if len(set(parts.values())) > 1:
                for n, part in parts.items():
                    found[n] = _with(name, part) if part else name
    return [printable(name) for name in found]


def _with(name: str, part: str) -> str:
    """Such as "aide (gpt-5)", then "aide (gpt-5, steps=50)"."""
    return f"{name[:-1]}, {part})" if name.endswith(")") else f"{name} ({part})"


def small_print(run: RunRecord, name: str) -> str:
    """What ``name`` leaves out: agent with its version, model and options, such as "aide 0.1.0, gpt-5, steps=50"."""
    options = [f"{key}={value}" for key, value in sorted(run.agent.options.items())]
    parts = (f"{run.agent.name} {run.agent.version}".strip(), run.model or "", *options)
    said = re.split(r" \(|, |\)$", name)
    return printable(", ".join(part for part in parts if part and part not in said))


def _label(run: RunRecord) -> str:
    """The label, unless the plan gave it for want of one: an agent's name, with a number where that was taken."""
    plain = re.sub(r"[^A-Za-z0-9._-]+|--+", "-", run.agent.name).strip("-.")
    return "" if re.fullmatch(rf"({re.escape(run.agent.name)}|{re.escape(plain)})(-\d+)?", run.label) else run.label


def _options(setups: Mapping[int, Mapping[str, str]]) -> dict[int, str]:
    """The options that differ, such as "steps=50"; of values with several words only those that others lack."""
    parts: dict[int, list[str]] = {n: [] for n in setups}
    for key in sorted({key for options in setups.values() for key in options}):
        values = {n: options.get(key, "") for n, options in setups.items()}
        if len(set(values.values())) == 1:
            continue
        shared = set.intersection(*(set(value.split()) for value in values.values()))
        for n, value in values.items():
            words = " ".join(word for word in value.split() if word not in shared)[:_LONGEST]
            if words:
                parts[n].append(words if any(" " in each for each in values.values()) else f"{key}={words}")
    return {n: " ".join(found) for n, found in parts.items()}
