"""The kit for backends."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from attrs import evolve

from mlecore.plugins.loading import load
from mlecore_testing.backends import ends, harm, limits, model
from mlecore_testing.backends.declares import build, declares, describes, preflight, stage_data
from mlecore_testing.backends.harness import BackendBench
from mlecore_testing.backends.life import found, life, logs, once, secrets, variables
from mlecore_testing.backends.patterns import patterns
from mlecore_testing.bench import LIGHT
from mlecore_testing.rules import Broken, Rule, Skipped, apply_rules

_FIRST: tuple[Rule[BackendBench], ...] = (
    LIGHT,
    Rule(name="declares", says="making it contacts nothing", test=declares),
    Rule(name="preflight", says="it can be used here", test=preflight, needs=("declares",)),
    Rule(
        name="describes",
        says="describe() says how jobs are isolated, and how far each limit is enforced",
        test=describes,
        needs=("preflight",),
    ),
    Rule(
        name="stage-data", says="datasets become available, always the same way", test=stage_data, needs=("preflight",)
    ),
    Rule(name="build", says="a recipe becomes an image, always the same one", test=build, needs=("preflight",)),
    Rule(
        name="life",
        says="a job runs as described, and its files are fetched",
        test=life,
        needs=("describes", "stage-data", "build"),
    ),
)
_AT_ONCE: tuple[Rule[BackendBench], ...] = (  # the one that waits longest first
    Rule(name="disk", says="a job cannot write more than it was given", test=limits.disk, needs=("life",)),
    Rule(name="time-limit", says="a job ends when its time is up", test=ends.time_limit, needs=("life",)),
    Rule(name="once", says="starting is idempotent by the job's name", test=once, needs=("life",)),
    Rule(name="found", says="a group's jobs are found from any process", test=found, needs=("life",)),
    Rule(name="logs", says="output is read byte for byte, from any offset", test=logs, needs=("life",)),
    Rule(name="variables", says="a job has the variables that every job has", test=variables, needs=("life",)),
    Rule(name="stop", says="stopping ends all of a job; output stays", test=ends.stop, needs=("life",)),
    Rule(name="removed", says="removing leaves nothing behind", test=ends.removed, needs=("life",)),
    Rule(name="hostile", says="only regular files of its home are fetched", test=harm.hostile, needs=("life",)),
    Rule(name="locked", says="a job cannot lock its files against fetching", test=harm.locked, needs=("life",)),
    Rule(name="init-kept", says="a job cannot have its init killed", test=harm.init_kept, needs=("life",)),
    Rule(name="cut", says="no more is fetched than the limits allow", test=harm.cut, needs=("life",)),
    Rule(name="globs", says="globs match what mlecore.util.globs says", test=patterns, needs=("life",)),
    Rule(name="apart", says="an isolated job cannot see the controller's files", test=harm.apart, needs=("life",)),
    Rule(name="read-only", says="a job cannot change its data", test=harm.read_only, needs=("life",)),
    Rule(name="network", says="network=none means none", test=limits.network, needs=("life",)),
    Rule(name="relay", says="the relay's log is fetched, and no forged one", test=harm.relay, needs=("life",)),
    Rule(name="forged", says="a job cannot forge its end or its hardware", test=ends.forged, needs=("time-limit",)),
)
_ALONE: tuple[Rule[BackendBench], ...] = (  # these use the machine up, measure how far a job can, or set variables
    Rule(name="secrets", says="a job gets the secrets that it names, and no others", test=secrets, needs=("life",)),
    Rule(name="gateway", says="a job reaches its model; its calls are counted", test=model.gateway, needs=("life",)),
    Rule(name="cpus", says="a job cannot use more CPUs than it was given", test=limits.cpus, needs=("life",)),
    Rule(name="memory", says="a job cannot use more memory than it was given", test=limits.memory, needs=("life",)),
    Rule(
        name="child",
        says="a child over the memory limit is killed, the job continues",
        test=limits.child,
        needs=("life",),
    ),
    Rule(name="uncounted", says="a job gets no memory that nobody counts", test=limits.uncounted, needs=("memory",)),
    Rule(
        name="processes",
        says="a job cannot have more processes than it was given",
        test=limits.processes,
        needs=("life",),
    ),
)
RULES = (*_FIRST, *_AT_ONCE, *_ALONE)
_JOBS = 5  # rules that are tried at once


def check_backend(name: str, options: Mapping[str, str] | None = None, only: Collection[str] = ()) -> list[Skipped]:
    """Check an installed backend against all rules with about thirty small jobs; ``options`` are those of ``-B``.

    The backend must be usable with these options. ``only`` names rules besides the first, up to "life": for a second
    set of options that changes little. Raises ConformanceError with every rule that is broken; returns the rules that
    could not be tried here, such as isolation where it says that it has none.
    """
    __tracebackhide__ = True
    loaded = load("backend", name)
    at_once, alone = ([rule for rule in rules if not only or rule.name in only] for rules in (_AT_ONCE, _ALONE))
    with tempfile.TemporaryDirectory(prefix="mlecore-kit-") as folder, ThreadPoolExecutor(_JOBS) as pool:
        bench = BackendBench(loaded, options or {}, Path(folder))
        rules = [*map(_tidy, _FIRST), *_begun_together([*map(_tidy, at_once)], pool), *map(_tidy, alone)]
        return apply_rules(f"backend {name}", bench, rules)


def _tidy(rule: Rule[BackendBench]) -> Rule[BackendBench]:
    """The rule, which leaves no job behind: a job that has ended may keep its share of the machine."""

    def tidied(bench: BackendBench) -> list[Broken]:
        try:
            return list(rule.test(bench))
        finally:
            bench.clear()

    return evolve(rule, test=tidied)


def _begun_together(rules: Sequence[Rule[BackendBench]], pool: Executor) -> Iterator[Rule[BackendBench]]:
    """The rules, which all begin once the first is tried, as their jobs mostly wait; each reports in its turn."""
    begun: dict[str, Future[Iterable[Broken]]] = {}

    def reported(bench: BackendBench, name: str) -> Iterable[Broken]:
        if not begun:
            begun.update({rule.name: pool.submit(rule.test, bench) for rule in rules})
        return begun[name].result()

    for rule in rules:
        yield evolve(rule, test=partial(reported, name=rule.name))
