"""Trials of a job of Harbor as a group: each trial of a task that was exported from mlecore becomes a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from mle_ext_sharing.foreign import ForeignRun, create_imported, label_of

from mle_ext_harbor.jobs import RESULT
from mlecore.errors import DataError, UsageError
from mlecore.model.agents import Usage
from mlecore.model.imported import Imported
from mlecore.model.provenance import PluginUse
from mlecore.model.report import Report, read_report
from mlecore.plugins.discovery import find
from mlecore.util import files
from mlecore.util.regular import regular_files
from mlecore.util.schema import SchemaError, read_json
from mlecore.util.scratch import scratch

_ENDED = {"": "finished", "AgentTimeoutError": "timed_out", "CancelledError": "stopped"}  # others: crashed
_TASK = re.compile(r"(?:(?P<set>[\w.-]+)/)?(?:mle-?bench[-_.])?(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{0,99})")


@frozen(kw_only=True)
class _Trial:
    folder: Path
    result: Mapping[str, Any]
    competition: str
    report: Report | None


def import_trials(folders: Sequence[Path], runs: Path, agent: str | None, name: str) -> Imported:
    """A group with an agent for each of Harbor's, with its model. Raises UsageError.

    Several trials of one competition are seeds 0, 1, ... in the order in which they started.
    """
    left_out: list[str] = []
    trials = []
    for folder in folders:
        try:
            trials += _read(folder)
        except DataError as error:
            left_out.append(f"{folder.name}: {error}")
    if not trials:
        raise UsageError("\n".join((f"no trial in {folders[0].parent} comes from a task of mlecore", *left_out)))
    with scratch() as folder:
        found = []
        for number, trial in enumerate(sorted(trials, key=lambda trial: _text(trial.result, "started_at"))):
            label = label_of(
                agent or "-".join(filter(None, (_text(trial.result, "agent_info", "name"), _model(trial))))
            )
            found.append(_run(trial, label, folder / str(number)))
        imported = create_imported(
            found,
            runs,
            label_of(name),
            harness="harbor",
            created_at=_text(trials[0].result, "started_at") or None,
            apart=f"Move the trials of one kind to another folder, with a copy of the job's {RESULT}, and import both.",
        )
    return evolve(imported, left_out=(*left_out, *imported.left_out))


def _read(folder: Path) -> list[_Trial]:
    """The trial, also of another adapter of MLE-bench, whose rewards are no grade; nothing if it is of another task.

    Raises DataError.
    """
    try:
        result = read_json(folder / RESULT, below=folder)
        named = _TASK.fullmatch(_text(result, "task_name"))
        if named is None or (named["set"] != "mlecore" and find("competition", named["id"]) is None):
            return []
        try:
            report = read_report(folder / "verifier" / "report.json", below=folder)
        except FileNotFoundError:
            report = None
    except FileNotFoundError:
        raise DataError(f"no {RESULT}: the trial did not end") from None
    except (SchemaError, OSError) as error:
        raise DataError(f"it cannot be read as a trial: {error}") from None
    if report is not None and report.competition_id != named["id"]:
        raise DataError(f"its report is of {report.competition_id}, and it worked on {named['id']}")
    return [_Trial(folder=folder, result=result, competition=named["id"], report=report)]


def _run(trial: _Trial, label: str, folder: Path) -> ForeignRun:
    """Gathers what the trial has in the layout of a run."""
    for source, target in (("artifacts/home", ""), ("agent", "logs/agent"), ("verifier", "logs/verifier")):
        for path in regular_files(trial.folder / source):
            to = folder / target / path.relative_to(trial.folder / source)
            files.make_folder(to.parent)
            files.link_or_copy(path, to)
    return ForeignRun(
        name=trial.folder.name,
        label=label,
        competition=trial.competition,
        folder=folder,
        report=trial.report,
        facts=_facts(trial, label),
    )


def _facts(trial: _Trial, label: str) -> dict[str, Any]:
    result = trial.result
    failure = _text(result, "exception_info", "exception_type")
    facts: dict[str, Any] = {
        "agent": PluginUse(name=label, version=_text(result, "agent_info", "version")),
        "model": _model(trial) or None,
        "seconds": _seconds(result, "agent_execution"),
        "ended": _ENDED.get(failure, "crashed"),
        "created_at": _text(result, "started_at") or None,
        "usage": Usage(
            models=tuple(filter(None, (_model(trial),))),
            input_tokens=_count(result, "n_input_tokens"),
            output_tokens=_count(result, "n_output_tokens"),
        ),
    }
    if failure:
        facts["reason"] = f"{failure}: {_text(result, 'exception_info', 'exception_message')}"[:500]
    if failure and trial.report is None:
        facts["state"] = "cancelled" if facts["ended"] == "stopped" else "failed"
    return facts


def _model(trial: _Trial) -> str:
    return _text(trial.result, "agent_info", "model_info", "name")


def _count(result: Mapping[str, Any], name: str) -> int | None:
    """A number of tokens, as the agent's own logs report it to Harbor."""
    value = (result.get("agent_result") or {}).get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(result: Mapping[str, Any], phase: str) -> float | None:
    try:
        begin, end = (datetime.fromisoformat(_text(result, phase, name)) for name in ("started_at", "finished_at"))
        return max(0.0, (end - begin).total_seconds())
    except (ValueError, TypeError):
        return None


def _text(values: Any, *path: str) -> str:
    """A text at this place; empty if there is none."""
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values if isinstance(values, str) else ""
