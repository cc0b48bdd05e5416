"""Rules: the sample and the perfect submission are valid; nothing scores better than the perfect one, or NaN."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mlecore_testing.competitions.harness import Harness, Response
from mlecore_testing.rules import Broken
from mlecore_toolkit.submissions.format import Column

_SLACK = 1e-9  # of the score: rounding, not a better submission


def sample(harness: Harness) -> Iterator[Broken]:
    yield from _valid(harness, harness.sample, "the sample submission")


def perfect(harness: Harness) -> Iterator[Broken]:
    yield from _valid(harness, harness.perfect, "the perfect submission")
    best, base = harness.grade(harness.perfect), harness.grade(harness.sample)
    if _beats(harness, base, best):
        yield Broken(f"it scores {best.score}, the sample submission {base.score}", "the perfect submission")


def best(harness: Harness) -> Iterator[Broken]:
    top = harness.grade(harness.perfect)
    for verdict in harness.verdicts:
        if _beats(harness, verdict.grade, top):
            score = verdict.grade.score
            yield Broken(f"scores {score}, the perfect submission {top.score}", verdict.mutant.name)


def number(harness: Harness) -> Iterator[Broken]:
    if any(_may_be_nan(column) for column in harness.format.columns.values()):
        return  # what such a submission scores is up to the metric
    for verdict in harness.verdicts:
        if verdict.grade.score is not None and math.isnan(verdict.grade.score):
            yield Broken("its score is NaN, though [submission] allows only finite numbers", verdict.mutant.name)


def _may_be_nan(column: Column) -> bool:
    return column.type == "any" or (column.type == "number" and (column.missing or column.infinite))


def _valid(harness: Harness, data: bytes, what: str) -> Iterator[Broken]:
    for hook, outcome in (("check", harness.check(data)), ("grade", harness.grade(data))):
        if not outcome.accepted:
            yield Broken(f"{hook} refuses it: {outcome.refusal or outcome.crash}", what)
        elif outcome.score is not None and math.isnan(outcome.score):
            yield Broken("its score is NaN, so nothing compares with it", what)


def _beats(harness: Harness, outcome: Response, than: Response) -> bool:
    if outcome.score is None or than.score is None:
        return False
    slack = _SLACK * max(1.0, abs(than.score)) if math.isfinite(than.score) else 0.0
    bar = than.score - slack if harness.facts.lower_is_better else than.score + slack
    return harness.facts.better(outcome.score, bar)
