"""Rules: the sample and the perfect submission are valid; nothing scores better than the perfect one."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mlecore.testing.competitions.bench import Bench, Outcome
from mlecore.testing.rules import Broken

_SLACK = 1e-9  # of the score: rounding, not a better submission


def sample(bench: Bench) -> Iterator[Broken]:
    yield from _valid(bench, bench.sample, "the sample submission")


def perfect(bench: Bench) -> Iterator[Broken]:
    yield from _valid(bench, bench.perfect, "the perfect submission")
    best, base = bench.grade(bench.perfect), bench.grade(bench.sample)
    if _beats(bench, base, best):
        yield Broken(f"it scores {best.score}, the sample submission {base.score}", "the perfect submission")


def best(bench: Bench) -> Iterator[Broken]:
    top = bench.grade(bench.perfect)
    for verdict in bench.verdicts:
        if _beats(bench, verdict.grade, top):
            score = verdict.grade.score
            yield Broken(f"scores {score}, the perfect submission {top.score}", verdict.mutant.name)


def _valid(bench: Bench, data: bytes, what: str) -> Iterator[Broken]:
    for hook, outcome in (("check", bench.check(data)), ("grade", bench.grade(data))):
        if not outcome.accepted:
            yield Broken(f"{hook} refuses it: {outcome.refusal or outcome.crash}", what)
        elif outcome.score is not None and math.isnan(outcome.score):
            yield Broken("its score is NaN, so nothing compares with it", what)


def _beats(bench: Bench, outcome: Outcome, than: Outcome) -> bool:
    if outcome.score is None or than.score is None:
        return False
    slack = _SLACK * max(1.0, abs(than.score)) if math.isfinite(than.score) else 0.0
    bar = than.score - slack if bench.facts.lower_is_better else than.score + slack
    return bench.facts.better(outcome.score, bar)
