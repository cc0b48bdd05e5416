"""Logs of inspect as a group: each sample that came from a task of mlecore becomes a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, read_eval_log_samples

from mle_ext_inspect.calls import write_calls
from mle_ext_inspect.collecting import unpack
from mle_ext_inspect.setting import Setting
from mlecore import files
from mlecore.backends import GATEWAY_LOG, OUTSIDE_LOGS
from mlecore.errors import DataError, MlecoreError, UsageError
from mlecore.grading.report import Report
from mlecore.registry.provenance import PluginUse
from mlecore.runs.measured import measure
from mlecore.runs.record import Limits
from mlecore.sharing.foreign import ForeignRun, Imported, create_imported, label_of

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_UUID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@frozen(kw_only=True)
class _Sample:
    """A sample with the facts of its log."""

    log: EvalLog
    path: Path
    sample: EvalSample
    competition: str
    setting: Setting
    seed: int

    @property
    def name(self) -> str:
        return f"{self.path.name}/{self.sample.id}/{self.sample.epoch}"


def import_logs(logs: Sequence[Path], runs: Path, agent: str | None, name: str) -> Imported:
    """A group with an agent for each solver and model. Raises UsageError, DataError.

    Samples keep their seeds; where a log has several epochs, all of its samples are numbered from 0.
    """
    samples = [sample for path in logs for sample in _read(path)]
    if not samples:
        raise UsageError(f"no sample in {logs[0]}{' ...' if len(logs) > 1 else ''} comes from a task of mlecore")
    kinds = {(sample.setting.edition, sample.setting.synthetic) for sample in samples}
    if len(kinds) > 1:
        raise UsageError(
            "the logs are of different editions, or of real and of synthetic data",
            fix="Import them as separate groups: --group NAME",
        )
    (edition, synthetic) = kinds.pop()
    repeated = any(sample.sample.epoch > 1 for sample in samples)
    numbers: Counter[tuple[str, str]] = Counter()
    left_out: list[str] = []
    with files.scratch() as scratch:
        found = []
        for number, sample in enumerate(samples):
            label = label_of(agent or f"{_solver(sample.log)}-{sample.log.eval.model}")
            seed = numbers[label, sample.competition] if repeated else sample.seed
            numbers[label, sample.competition] += 1
            found.append(_run(sample, label, seed, scratch / str(number), left_out))
        imported = create_imported(
            found,
            runs,
            label_of(name),
            harness="inspect",
            edition=edition,
            synthetic=synthetic,
            created_at=samples[0].log.eval.created,
        )
    return evolve(imported, left_out=(*left_out, *imported.left_out))


def _read(path: Path) -> Iterator[_Sample]:
    try:
        log = read_eval_log(str(path), header_only=True)
        for sample in read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True):
            facts = sample.metadata
            if "setting" not in facts or "competition" not in facts:
                continue  # another task's
            competition, seed = facts["competition"], facts.get("seed")
            if not isinstance(competition, str) or not _ID.fullmatch(competition) or not isinstance(seed, int):
                raise DataError(f"{path}: the sample {sample.id} names no competition and seed")
            setting = Setting.from_json(facts["setting"])
            yield _Sample(log=log, path=path, sample=sample, competition=competition, setting=setting, seed=seed)
    except MlecoreError:
        raise
    except Exception as error:  # whatever inspect raises for a file that it cannot read
        raise DataError(f"{path} cannot be read as a log of inspect: {error}") from None


def _run(item: _Sample, label: str, seed: int, folder: Path, left_out: list[str]) -> ForeignRun:
    sample = item.sample
    files.make_folder(folder / "logs")
    outputs = _outputs(item)
    if outputs is None:
        left_out.append(f"{item.name}: its archive of submission, code and logs is gone")
    else:
        left_out += [f"{item.name}: {line}" for line in unpack(outputs, folder)]
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
        report=_report(item),
        facts=_facts(item, label, folder / GATEWAY_LOG),
    )


def _facts(item: _Sample, label: str, calls: Path) -> dict[str, Any]:
    sample, spec, setting = item.sample, item.log.eval, item.setting
    counted = measure(calls)
    limit = sample.limit.type if sample.limit else ""
    facts: dict[str, Any] = {
        "agent": PluginUse(name=label, options={"solver": _solver(item.log)}),
        "backend": PluginUse(name="inspect", options={"sandbox": sample.sandbox.type if sample.sandbox else ""}),
        "model": spec.model,
        "endpoint": spec.model_base_url,
        "data_kind": sample.metadata.get("data_kind"),
        "data_digest": sample.metadata.get("data_digest"),
        "seconds": sample.total_time,
        "ended": "timed_out" if limit in ("time", "working") else "finished",
        "created_at": sample.started_at or spec.created,
        "calls": counted,
        "usage": counted.usage if counted else None,
        "limits": Limits(
            time=spec.config.time_limit or Limits().time,
            cpus=setting.cpus,
            memory=setting.memory,
            gpus=setting.gpus,
            network=setting.network,
        ),
    }
    if limit:
        facts["reason"] = f"inspect's limit was reached: {limit}"
    if sample.error and not sample.scores:
        facts |= {"state": "failed", "reason": f"error in inspect: {sample.error.message[:500]}"}
    return facts


def _report(item: _Sample) -> Report | None:
    """As the scorer wrote it. Raises DataError if it is none of this competition."""
    score = next((score for score in (item.sample.scores or {}).values() if "report" in (score.metadata or {})), None)
    if score is None or score.metadata is None:
        return None
    report = Report.from_json(score.metadata["report"])
    if report.competition_id != item.competition:
        raise DataError(f"{item.name} has a report of {report.competition_id}, and worked on {item.competition}")
    return report


def _outputs(item: _Sample) -> Path | None:
    """The archive that the scorer wrote: beside the log, or where it lay. A log can name no other file."""
    uuid = item.sample.uuid or ""
    if not _UUID.fullmatch(uuid):
        return None
    places = (item.path.parent / "mlecore", Path(item.setting.outputs))
    return next((path for place in places if (path := place / f"{uuid}.tar").is_file()), None)


def _solver(log: EvalLog) -> str:
    """The agent's name, without its package."""
    return (log.eval.solver or (log.plan.steps[-1].solver if log.plan.steps else "inspect")).rpartition("/")[2]
