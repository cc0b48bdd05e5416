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
    Rule("declares", "making it contacts nothing", declares),
    Rule("preflight", "it can be used here", preflight, needs=("declares",)),
    Rule(
        "describes",
        "describe() says how jobs are isolated, and how far each limit is enforced",
        describes,
        needs=("preflight",),
    ),
    Rule("stage-data", "datasets become available, always the same way", stage_data, needs=("preflight",)),
    Rule("build", "a recipe becomes an image, always the same one", build, needs=("preflight",)),
    Rule(
        "life", "a job runs as described, and its files are fetched", life, needs=("describes", "stage-data", "build")
    ),
)
_AT_ONCE: tuple[Rule[BackendBench], ...] = (  # the one that waits longest first
    Rule("disk", "a job cannot write more than it was given", limits.disk, needs=("life",)),
    Rule("time-limit", "a job ends when its time is up", ends.time_limit, needs=("life",)),
    Rule("once", "starting is idempotent by the job's name", once, needs=("life",)),
    Rule("found", "a group's jobs are found from any process", found, needs=("life",)),
    Rule("logs", "output is read byte for byte, from any offset", logs, needs=("life",)),
    Rule("variables", "a job has the variables that every job has", variables, needs=("life",)),
    Rule("stop", "stopping ends all of a job; output stays", ends.stop, needs=("life",)),
    Rule("removed", "removing leaves nothing behind", ends.removed, needs=("life",)),
    Rule("hostile", "only regular files of its home are fetched", harm.hostile, needs=("life",)),
    Rule("locked", "a job cannot lock its files against fetching", harm.locked, needs=("life",)),
    Rule("init-kept", "a job cannot have its init killed", harm.init_kept, needs=("life",)),
    Rule("cut", "no more is fetched than the limits allow", harm.cut, needs=("life",)),
    Rule("globs", "globs match what mlecore.util.globs says", patterns, needs=("life",)),
    Rule("apart", "an isolated job cannot see the controller's files", harm.apart, needs=("life",)),
    Rule("read-only", "a job cannot change its data", harm.read_only, needs=("life",)),
    Rule("network", "network=none means none", limits.network, needs=("life",)),
    Rule("relay", "the relay's log is fetched, and no forged one", harm.relay, needs=("life",)),
    Rule("forged", "a job cannot forge its end or its hardware", ends.forged, needs=("time-limit",)),
)
_ALONE: tuple[Rule[BackendBench], ...] = (  # these use the machine up, measure how far a job can, or set variables
    Rule("secrets", "a job gets the secrets that it names, and no others", secrets, needs=("life",)),
    Rule("gateway", "a job reaches its model; its calls are counted", model.gateway, needs=("life",)),
    Rule("cpus", "a job cannot use more CPUs than it was given", limits.cpus, needs=("life",)),
    Rule("memory", "a job cannot use more memory than it was given", limits.memory, needs=("life",)),
    Rule("child", "a child over the memory limit is killed, the job continues", limits.child, needs=("life",)),
    Rule("uncounted", "a job gets no memory that nobody counts", limits.uncounted, needs=("memory",)),
    Rule("processes", "a job cannot have more processes than it was given", limits.processes, needs=("life",)),
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
