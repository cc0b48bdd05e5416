"""Rules: a place says what it is without being contacted, and whether it can be used."""

from __future__ import annotations

import json
from collections.abc import Iterator

from mlecore.agents import Recipe
from mlecore.backends import Backend, Image, Problem
from mlecore.testing.backends.harness import BackendBench
from mlecore.testing.declared import option_flaws, summary_flaws
from mlecore.testing.rules import Broken, Stop
from mlecore.testing.watch import watched


def declares(harness: BackendBench) -> Iterator[Broken]:
    with watched() as deeds:
        backend = harness.another()
    if not isinstance(backend, Backend):
        raise Stop(f"backend() returned {backend!r}, which is no Backend")
    for deed in dict.fromkeys(deeds):
        yield Broken(f"it {deed}; it should contact nothing", "backend()")
    for what in (*summary_flaws(backend.summary), *option_flaws(backend.options)):
        yield Broken(what, type(backend).__name__)


def preflight(harness: BackendBench) -> Iterator[Broken]:
    for jobs in ((), (harness.job("true", image=Image(ref="", digest=""), data=""),)):
        found = harness.backend.preflight(jobs)
        for problem in found:
            if not isinstance(problem, Problem) or not problem.what.strip() or not problem.fix.strip():
                yield Broken(f"{problem!r} does not say what is wrong and what to do", "preflight()")
        if fatal := [problem for problem in found if problem.fatal]:
            raise Stop(f"the place cannot be used here: {fatal[0].what}\n{fatal[0].fix}")
    try:
        json.dumps(dict(harness.facts))
    except (TypeError, ValueError) as error:
        yield Broken(f"its facts cannot go into the record: {error}", "describe()")


def provide(harness: BackendBench) -> Iterator[Broken]:
    seen: list[tuple[int, int]] = []
    first = harness.backend.provide(harness.dataset, lambda done, total, what: seen.append((done, total)))
    for done, total in seen:
        if not 0 <= done <= total:
            yield Broken(f"progress of {done} bytes of {total}", "provide()")
            break
    if harness.another().provide(harness.dataset, lambda done, total, what: None) != first:
        yield Broken("another answer for the same data the second time", "provide()")


def build(harness: BackendBench) -> Iterator[Broken]:
    first = harness.image
    if not first.digest:
        yield Broken(f"{first!r} has no digest, which the record needs", "build()")
    if harness.another().build(Recipe(), harness.folder / "build-again.log") != first:
        yield Broken("another image for the same recipe the second time", "build()")
