"""The kit for backends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from mlecore.registry import load
from mlecore.testing.backends import ends, harm, limits, model
from mlecore.testing.backends.declares import build, declares, describes, preflight, provide
from mlecore.testing.backends.harness import BackendBench
from mlecore.testing.backends.life import found, life, logs, once, secrets, variables
from mlecore.testing.backends.patterns import patterns
from mlecore.testing.light import light
from mlecore.testing.rules import Broken, Rule, Skipped, apply_rules


def _light(bench: BackendBench) -> Iterator[Broken]:
    return light(bench.loaded.plugin)


RULES: tuple[Rule[BackendBench], ...] = (
    Rule(name="light", says="importing the plugin imports nothing heavy", test=_light),
    Rule(name="declares", says="it says what it is, and contacts nothing for it", test=declares),
    Rule(name="preflight", says="it can be used here", test=preflight, needs=("declares",)),
    Rule(
        name="describes",
        says="it says how jobs are kept apart, and how far they are held to each limit",
        test=describes,
        needs=("preflight",),
    ),
    Rule(name="provide", says="data become available, the same twice", test=provide, needs=("preflight",)),
    Rule(name="build", says="a recipe becomes an image, the same twice", test=build, needs=("preflight",)),
    Rule(
        name="life",
        says="a job runs as described, and what it left comes out",
        test=life,
        needs=("describes", "provide", "build"),
    ),
    Rule(name="once", says="starting is idempotent by the job's name", test=once, needs=("life",)),
    Rule(name="found", says="a group's jobs are found from any process", test=found, needs=("life",)),
    Rule(name="logs", says="output comes out byte for byte, from anywhere on", test=logs, needs=("life",)),
    Rule(name="variables", says="a job has the variables that jobs have everywhere", test=variables, needs=("life",)),
    Rule(name="secrets", says="a job gets the keys that it names, and no others", test=secrets, needs=("life",)),
    Rule(name="time-limit", says="a job ends when its time is up", test=ends.time_limit, needs=("life",)),
    Rule(name="stop", says="stopping ends all of a job; output stays", test=ends.stop, needs=("life",)),
    Rule(name="removed", says="removing leaves nothing behind", test=ends.removed, needs=("life",)),
    Rule(name="hostile", says="only regular files of its home come out", test=harm.hostile, needs=("life",)),
    Rule(name="cut", says="no more comes out than the limits allow", test=harm.cut, needs=("life",)),
    Rule(name="globs", says="globs bring what they match everywhere", test=patterns, needs=("life",)),
    Rule(name="apart", says="an isolated job sees nothing of the controller's", test=harm.apart, needs=("life",)),
    Rule(name="read-only", says="a job cannot change its data", test=harm.read_only, needs=("life",)),
    Rule(name="network", says="a job without a network has none", test=limits.network, needs=("life",)),
    Rule(name="cpus", says="a job gets the CPUs it was given", test=limits.cpus, needs=("life",)),
    Rule(name="memory", says="a job gets the memory it was given", test=limits.memory, needs=("life",)),
    Rule(
        name="child",
        says="a child beyond the memory is killed, and its job goes on",
        test=limits.child,
        needs=("life",),
    ),
    Rule(name="processes", says="a job gets the processes it was given", test=limits.processes, needs=("life",)),
    Rule(name="disk", says="a job gets the disk it was given", test=limits.disk, needs=("life",)),
    Rule(name="relay", says="the relay's log comes out, and no other one", test=harm.relay, needs=("life",)),
    Rule(name="gateway", says="a job reaches its model, calls are counted", test=model.gateway, needs=("life",)),
)


def check_backend(name: str, options: Mapping[str, str] | None = None) -> list[Skipped]:
    """Check an installed backend against all rules with about thirty small jobs; ``options`` are those of ``-B``.

    It must be usable with these options. Raises ConformanceError with every rule that is broken; returns the
    rules that could not be tried here, such as isolation where it says that it has none.
    """
    __tracebackhide__ = True
    loaded = load("backend", name)
    with tempfile.TemporaryDirectory(prefix="mlecore-kit-") as folder:
        bench = BackendBench(loaded, options or {}, Path(folder))
        try:
            return apply_rules(f"backend {name}", bench, RULES)
        finally:
            bench.clean_up()
