"""Samples of mlecore's tasks in logs of inspect, without their conversations, each as it last ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import frozen
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, read_eval_log_sample, read_eval_log_samples

from mle_ext_inspect.setting import Setting
from mlecore.errors import DataError

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LONG = {"messages", "events", "store", "attachments", "output"}  # a transcript can be larger than the memory


@frozen(kw_only=True)
class LoggedSample:
    """A sample with the facts of its log. Read ``whole`` when its conversation is needed."""

    log: EvalLog
    path: Path
    sample: EvalSample
    competition: str
    setting: Setting
    seed: int

    @property
    def name(self) -> str:
        return f"{self.path.name}/{self.sample.id}/{self.sample.epoch}"

    def whole(self) -> EvalSample:
        return read_eval_log_sample(str(self.path), self.sample.id, self.sample.epoch, resolve_attachments=True)


def read_samples(logs: Sequence[Path], left_out: list[str]) -> list[LoggedSample]:
    """In the order in which the logs were created. Logs that cannot be read are named in ``left_out``.

    Samples of inspect_evals' mle_bench are among them. A retried task has a log for each attempt, and each holds the
    samples that had succeeded before. They count once.
    """
    found: dict[tuple[str, int | str, int], LoggedSample] = {}
    for item in sorted(_readable(logs, left_out), key=lambda item: item.log.eval.created):
        place = (item.log.eval.task_id, item.sample.id, item.sample.epoch)
        earlier = found.get(place)
        if earlier is None or earlier.sample.error or not item.sample.error:
            found[place] = item
    return list(found.values())


def _readable(logs: Sequence[Path], left_out: list[str]) -> Iterator[LoggedSample]:
    for path in logs:
        try:
            yield from list(_read(path))
        except Exception as error:  # whatever inspect raises for a file that it cannot read
            left_out.append(f"{path}: it cannot be read as a log of inspect: {error}")


def _read(path: Path) -> Iterator[LoggedSample]:
    log = read_eval_log(str(path), header_only=True)
    for sample in read_eval_log_samples(str(path), all_samples_required=False, exclude_fields=_LONG):
        facts = sample.metadata
        if log.eval.task.rpartition("/")[2] == "mle_bench":  # of inspect_evals, which keeps no more than a report
            competition, seed, setting = sample.id, sample.epoch - 1, Setting()
        elif "setting" in facts and "competition" in facts:
            competition, seed, setting = facts["competition"], facts.get("seed"), Setting.from_json(facts["setting"])
        else:
            continue  # another task's
        if not isinstance(competition, str) or not _ID.fullmatch(competition) or not isinstance(seed, int):
            raise DataError(f"the sample {sample.id} names no competition and seed")
        yield LoggedSample(log=log, path=path, sample=sample, competition=competition, setting=setting, seed=seed)
