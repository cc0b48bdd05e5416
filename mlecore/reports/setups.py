"""Which runs may be averaged: those of one setup. What else differs between them is found and named."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from mlecore.errors import MlecoreError
from mlecore.grading.report import Report, read_report
from mlecore.reports.rates import RunResult
from mlecore.runs.record import RunRecord
from mlecore.schema import SchemaError


@frozen(kw_only=True)
class Graded:
    """A run and its report, where it has one."""

    run: RunRecord
    report: Report | None
    split: str | None

    @property
    def counts(self) -> bool:
        """In the rates: graded, or ours to grade again (no medal until then); what the place lost is not."""
        return self.run.state in ("graded", "collected")

    @property
    def outcome(self) -> RunResult:
        """What it earned; nothing without a report."""
        report = self.report
        return RunResult(
            competition=self.run.competition,
            split=self.split,
            seed=self.run.seed,
            any_medal=bool(report and report.any_medal),
            gold=bool(report and report.gold_medal),
            silver=bool(report and report.silver_medal),
            bronze=bool(report and report.bronze_medal),
            above_median=bool(report and report.above_median),
            valid=bool(report and report.valid_submission),
            submitted=bool(report.submission_exists if report else self.run.submission),
        )


@frozen(kw_only=True)
class Setup:
    """Runs of one agent, with one set of options and one model, on one kind of data."""

    title: str
    synthetic: bool
    runs: tuple[Graded, ...]

    @property
    def counted(self) -> list[Graded]:
        return [graded for graded in self.runs if graded.counts]


def read_graded(run: RunRecord) -> Graded:
    """A run with its grade.json. One that cannot be read counts as not graded."""
    return Graded(run=run, report=_report(run.folder / "grade.json"), split=_split(run.competition))


def _report(path: Path) -> Report | None:
    try:
        return read_report(path)
    except (OSError, SchemaError):
        return None


def _split(competition_id: str) -> str | None:
    from mlecore.competitions import competition

    try:
        return competition(competition_id).facts.split
    except MlecoreError:  # reports are read on machines where its plugin is not installed
        return None


def setups(graded: Iterable[Graded]) -> list[Setup]:
    """Runs by setup, in order of first appearance; within one by competition and seed."""
    groups: dict[tuple[object, ...], list[Graded]] = defaultdict(list)
    for item in graded:
        run = item.run
        options = tuple(sorted(run.agent.options.items()))
        groups[(run.agent.name, run.label, options, run.model, run.edition, run.synthetic)].append(item)
    return [
        Setup(
            title=_title(items[0].run),
            synthetic=items[0].run.synthetic,
            runs=tuple(sorted(items, key=lambda item: (item.run.competition, item.run.seed, item.run.uid))),
        )
        for items in groups.values()
    ]


def _title(run: RunRecord) -> str:
    options = " ".join(f"{name}={value}" for name, value in sorted(run.agent.options.items()))
    parts = [
        f"{run.agent.name} {run.agent.version}".strip(),
        run.label if run.label != run.agent.name else "",
        options,
        run.model or "",
        f"edition {run.edition}",
        "synthetic data" if run.synthetic else "",
    ]
    return ", ".join(part for part in parts if part)


def differences(runs: Iterable[RunRecord]) -> dict[str, list[str]]:
    """What must be alike before numbers are averaged, and is not: attribute -> its values, in words."""
    seen: dict[str, dict[str, None]] = defaultdict(dict)
    for run in runs:
        for name, value in _conditions(run).items():
            seen[name][value] = None
    return {name: list(values) for name, values in seen.items() if len(values) > 1}


def _conditions(run: RunRecord) -> dict[str, str]:
    """What a number hangs on, beside the setup. Of the hardware: what is known to change results."""
    limits = run.limits
    conditions: dict[str, Any] = {
        "agent's source": f"{run.agent.version} {run.agent.source[:12]} {(run.launch_digest or '')[:12]}".strip(),
        "time limit": f"{limits.time:g} s",
        "CPUs": limits.cpus,
        "memory": limits.memory,
        "GPUs": limits.gpus,
        "network": f"{limits.network} {' '.join(limits.allow)}".strip(),
        "isolation": run.sandbox.isolation if run.sandbox else None,
        "image": run.image_digest,
        f"data of {run.competition}": run.data_digest,
        f"description of {run.competition}": run.description_digest,
    }
    if run.attempt is not None and run.attempt.handle is not None:
        conditions |= {f"hardware, {key}": _hardware(run.hardware, key) for key in ("cpus", "gpus")}
    for plugin in run.plugins:
        conditions[f"plugin {plugin.name}"] = f"{plugin.version} {plugin.source[:12]}".strip()
    return {name: "none" if value in (None, "") else str(value) for name, value in conditions.items()}


def _hardware(hardware: Mapping[str, Any], key: str) -> str:
    return json.dumps(hardware.get(key), sort_keys=True)
