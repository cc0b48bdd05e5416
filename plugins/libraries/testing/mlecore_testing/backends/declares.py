"""Rules: a backend describes itself without contacting anything: whether it can be used, and how it isolates jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import get_args

from attrs import asdict

from mlecore.errors import PluginError
from mlecore.model.agents import Recipe
from mlecore.model.backends import Backend, Enforcement, Level, Problem, Resources, Sandbox
from mlecore_testing.backends.harness import BackendBench
from mlecore_testing.declared import option_flaws, summary_flaws
from mlecore_testing.rules import Broken, Stop
from mlecore_testing.watch import watched


def declares(bench: BackendBench) -> Iterator[Broken]:
    try:
        with watched() as deeds:
            backend = bench.another()
    except PluginError as error:  # such as a missing method of Backend
        raise Stop(error.message) from None
    if not isinstance(backend, Backend):
        raise Stop(f"backend() returned {backend!r}, which is not a Backend")
    for deed in dict.fromkeys(deeds):
        yield Broken(f"it {deed}; it should contact nothing", "backend()")
    for what in (*summary_flaws(backend.summary), *option_flaws(backend.options)):
        yield Broken(what, type(backend).__name__)


def preflight(bench: BackendBench) -> Iterator[Broken]:
    for requested in ((), (Resources(),)):
        found = bench.backend.preflight(requested)
        for problem in found:
            if not isinstance(problem, Problem) or not problem.description.strip() or not problem.fix.strip():
                yield Broken(f"{problem!r} does not say what is wrong and what to do", "preflight()")
        if fatal := [problem for problem in found if problem.fatal]:
            raise Stop(f"it cannot be used here: {fatal[0].description}\n{fatal[0].fix}")
    if bench.backend.capacity() is not None and not any(
        problem.fatal for problem in bench.backend.preflight([Resources(gpus=10_000)])
    ):
        yield Broken("preflight() reports no problem with a job that requested 10,000 GPUs", "preflight()")


def describes(bench: BackendBench) -> Iterator[Broken]:
    sandbox = bench.sandbox
    if not isinstance(sandbox, Sandbox):
        raise Stop(f"describe() returned {sandbox!r}, which is not a Sandbox")
    if sandbox.isolation is not None and not str(sandbox.isolation).strip():
        yield Broken("the text that says how jobs are isolated is empty; use None if they are not", "isolation")
    if not str(sandbox.user).strip():
        yield Broken("the text that says which user a job's processes have is empty", "user")
    for name, limit in sandbox.limits().items():
        if not isinstance(limit, Enforcement) or limit.level not in get_args(Level):
            raise Stop(f"{name} is {limit!r}, which is not an Enforcement with one of its levels")
        if limit.level != "absent" and not limit.how.strip():
            yield Broken(f"the limit is {limit.level}, and it does not say how", name)
    if sandbox.network_verified and sandbox.network.level == "absent":
        yield Broken("a limit that is absent cannot be verified", "network_verified")
    try:
        json.dumps(asdict(sandbox))
    except (TypeError, ValueError) as error:
        yield Broken(f"it cannot go into the record: {error}", "describe()")


def stage_data(bench: BackendBench) -> Iterator[Broken]:
    seen: list[tuple[int, int]] = []
    first = bench.backend.stage_data(bench.dataset, lambda done, total, what: seen.append((done, total)))
    for done, total in seen:
        if not 0 <= done <= total:
            yield Broken(f"progress of {done} bytes of {total}", "stage_data()")
            break
    if bench.another().stage_data(bench.dataset, lambda done, total, what: None) != first:
        yield Broken("a different result for the same data the second time", "stage_data()")


def build(bench: BackendBench) -> Iterator[Broken]:
    first = bench.image
    if not first.digest:
        yield Broken(f"{first!r} has no digest, which the record needs", "build()")
    if bench.another().build(Recipe(), bench.folder / "build-again.log") != first:
        yield Broken("a different image for the same recipe the second time", "build()")
