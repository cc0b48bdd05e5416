"""The kit for backends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from mlecore.registry import load
from mlecore.testing.backends import ends, harm
from mlecore.testing.backends.declares import build, declares, preflight, provide
from mlecore.testing.backends.harness import BackendBench
from mlecore.testing.backends.life import found, life, logs, once, secrets
from mlecore.testing.light import light
from mlecore.testing.rules import Broken, Rule, Skipped, apply_rules


def _light(harness: BackendBench) -> Iterator[Broken]:
    return light(harness.loaded.plugin)


RULES: tuple[Rule[BackendBench], ...] = (
    Rule(name="light", says="importing the plugin brings in nothing heavy", test=_light),
    Rule(name="declares", says="it says what it is, and contacts nothing for it", test=declares),
    Rule(name="preflight", says="it can be used here", test=preflight, needs=("declares",)),
    Rule(name="provide", says="data come within reach, the same twice", test=provide, needs=("preflight",)),
    Rule(name="build", says="a recipe becomes an image, the same twice", test=build, needs=("preflight",)),
    Rule(
        name="life", says="a job runs as described, and what it left comes out", test=life, needs=("provide", "build")
    ),
    Rule(name="once", says="starting is idempotent by the job's name", test=once, needs=("life",)),
    Rule(name="found", says="a group's jobs are found, whoever started them", test=found, needs=("life",)),
    Rule(name="logs", says="output comes out byte for byte, from anywhere on", test=logs, needs=("life",)),
    Rule(name="secrets", says="a job gets the keys that it names, and no others", test=secrets, needs=("life",)),
    Rule(name="time-limit", says="a job ends when its time is up", test=ends.time_limit, needs=("life",)),
    Rule(name="stop", says="stopping ends all of a job; output stays", test=ends.stop, needs=("life",)),
    Rule(name="removed", says="removing leaves nothing behind", test=ends.removed, needs=("life",)),
    Rule(name="hostile", says="only regular files of its home come out", test=harm.hostile, needs=("life",)),
    Rule(name="cut", says="no more comes out than the limit allows", test=harm.cut, needs=("life",)),
    Rule(name="read-only", says="a job cannot change its data", test=harm.read_only, needs=("life",)),
    Rule(name="network", says="a job without a network has none", test=harm.network, needs=("life",)),
    Rule(name="memory", says="a job gets the memory it was given", test=harm.memory, needs=("life",)),
)


def check_backend(name: str, options: Mapping[str, str] | None = None) -> list[Skipped]:
    """Put an installed backend through its paces with some twenty small jobs; ``options`` are those of ``-B``.

    The place must be usable with these options. Raises ConformanceError with every rule that is broken; returns the
    rules that could not be tried here, such as isolation where the place says that it has none.
    """
    __tracebackhide__ = True
    loaded = load("backend", name)
    with tempfile.TemporaryDirectory(prefix="mlecore-kit-") as folder:
        harness = BackendBench(loaded, options or {}, Path(folder))
        try:
            return apply_rules(f"backend {name}", harness, RULES)
        finally:
            harness.clean_up()
