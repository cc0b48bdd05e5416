"""Logs of inspect as a group: each sample that came from a task of mlecore becomes a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample
from mle_ext_report.grading_reports import report_of
from mle_ext_sharing.foreign import ForeignRun, create_imported, label_of

from mle_ext_inspect.calls import write_calls
from mle_ext_inspect.collecting import unpack
from mle_ext_inspect.reading import LoggedSample, read_samples
from mlecore.errors import DataError, UsageError
from mlecore.model.imported import Imported
from mlecore.model.provenance import PluginUse
from mlecore.model.record import Limits
from mlecore.model.report import Report
from mlecore.runs.measured import measure
from mlecore.util import files
from mlecore.util.schema import SchemaError, parse_json
from mlecore.util.scratch import scratch
from mlecore.util.units import counted
from mlecore_jobs.fetching import GATEWAY_LOG, OUTSIDE_LOGS

_UUID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def import_logs(logs: Sequence[Path], runs: Path, agent: str | None, name: str) -> Imported:
    """A group with an agent for each solver and model. Raises UsageError.

    Samples keep their seeds; where a log has several epochs, all of its samples are numbered from 0.
    """
    left_out: list[str] = []
    samples = read_samples(logs, left_out)
    if not samples:
        more = " ..." if len(logs) > 1 else ""
        raise UsageError("\n".join((f"no sample in {logs[0]}{more} comes from a task of mlecore", *left_out)))
    repeated = any(sample.sample.epoch > 1 for sample in samples)
    with scratch() as folder:
        found = []
        for number, sample in enumerate(samples):
            label = label_of(agent or f"{_solver(sample.log)}-{sample.log.eval.model}")
            seed = None if repeated else sample.seed  # an epoch repeats the seed
            try:
                found.append(_run(sample, label, seed, folder / str(number), left_out))
            except DataError as error:
                left_out.append(f"{sample.name}: {error}")
        if not found:
            raise UsageError("\n".join(("no sample can be imported", *left_out)))
        imported = create_imported(
            found,
            runs,
            label_of(name),
            harness="inspect",
            created_at=samples[0].log.eval.created,
            apart="Import the logs of each as a group of their own: mlecore runs import LOG --group NAME",
        )
    return evolve(imported, left_out=(*left_out, *imported.left_out))


def _run(item: LoggedSample, label: str, seed: int | None, folder: Path, left_out: list[str]) -> ForeignRun:
    report, sample = _report(item), item.whole()
    files.make_folder(folder / "logs")
    if (outputs := _outputs(item)) is not None:
        left_out += [f"{item.name}: {line}" for line in unpack(outputs, folder)]
    elif report is not None:
        left_out.append(f"{item.name}: its archive of submission, code and logs is gone")
    for name in OUTSIDE_LOGS:  # an agent's files of these names are not what they seem
        files.remove(folder / name)
    write_calls(
        [event for event in sample.events if isinstance(event, ModelEvent) and not event.pending], folder / "logs"
    )
    files.replace(folder / "logs" / "inspect.json", sample.model_dump_json(indent=1, exclude={"events"}).encode())
    return ForeignRun(
        name=item.name,
        label=label,
        competition=item.competition,
        seed=seed,
        folder=folder,
        report=report,
        facts=_facts(item, sample, label, folder / GATEWAY_LOG),
    )


def _facts(item: LoggedSample, sample: EvalSample, label: str, calls: Path) -> dict[str, Any]:
    spec, setting = item.log.eval, item.setting
    measured = measure(calls)
    facts: dict[str, Any] = {
        "agent": PluginUse(name=label, options={"solver": _solver(item.log)}),
        "backend": PluginUse(name="inspect", options={"sandbox": sample.sandbox.type if sample.sandbox else ""}),
        "model": spec.model,
        "endpoint": spec.model_base_url,
        "edition": setting.edition,
        "data_kind": sample.metadata.get("data_kind"),
        "data_digest": sample.metadata.get("data_digest"),
        "seconds": sample.total_time,
        "created_at": sample.started_at or spec.created,
        "calls": measured,
        "usage": measured.usage if measured else None,
        "limits": Limits(
            time=spec.config.time_limit or Limits().time,
            cpus=setting.cpus,
            memory=setting.memory,
            gpus=setting.gpus,
            network=setting.network,
        ),
    }
    return facts | _end(item.log, sample)


def _end(log: EvalLog, sample: EvalSample) -> dict[str, Any]:
    """How the run ended, as fields of RunRecord."""
    if sample.invalidation:
        why = sample.invalidation.reason or "no reason given"
        return {"ended": "finished", "state": "failed", "reason": f"declared invalid in inspect: {why[:500]}"}
    if sample.error and not sample.scores:
        cancelled = log.status == "cancelled" and sample.error.message.startswith("CancelledError")
        if cancelled:
            return {"ended": "stopped", "state": "cancelled", "reason": "cancelled in inspect"}
        return {"ended": "crashed", "state": "failed", "reason": f"error in inspect: {sample.error.message[:500]}"}
    if sample.limit:
        ended = {"time": "timed_out", "working": "timed_out", "operator": "stopped"}.get(sample.limit.type, "finished")
        return {"ended": ended, "reason": f"inspect's limit was reached: {sample.limit.type}"}
    if sample.error_retries:
        errors = counted(len(sample.error_retries), "attempt")
        last = sample.error_retries[-1].message[:500]
        return {"ended": "finished", "reason": f"{errors} failed in inspect before this one: {last}"}
    return {"ended": "finished"}


def _report(item: LoggedSample) -> Report | None:
    """As the scorer wrote it. Raises DataError if it is none of this competition."""
    scores = (item.sample.scores or {}).values()
    if (score := next((score for score in scores if "report" in (score.metadata or {})), None)) and score.metadata:
        report = Report.from_json(score.metadata["report"])
    elif item.setting.outputs or not (score := next(iter(scores), None)):
        return None
    else:  # of inspect_evals, which keeps MLE-bench's report as the explanation
        try:
            report = report_of(parse_json((score.explanation or "").encode()), item.name)
        except (SchemaError, UsageError):
            return None
    if report.competition_id != item.competition:
        raise DataError(f"{item.name} has a report of {report.competition_id}, and worked on {item.competition}")
    return report


def _outputs(item: LoggedSample) -> Path | None:
    """The archive that the scorer wrote: beside the log, or where it lay. A log can name no other file."""
    uuid = item.sample.uuid or ""
    if not _UUID.fullmatch(uuid):
        return None
    places = [item.path.parent / "mlecore", *map(Path, filter(None, [item.setting.outputs]))]
    return next((path for place in places if (path := place / f"{uuid}.tar").is_file()), None)


def _solver(log: EvalLog) -> str:
    """The agent's name, without its package."""
    return (log.eval.solver or (log.plan.steps[-1].solver if log.plan.steps else "inspect")).rpartition("/")[2]
