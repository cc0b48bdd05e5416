"""The kit for detectors."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from mlecore.plugins.loading import load
from mlecore_testing.bench import DECLARES, LIGHT
from mlecore_testing.detectors.detects import blind, calm, detects, same, untouched
from mlecore_testing.detectors.harness import DetectorBench
from mlecore_testing.rules import Rule, Skipped, apply_rules

RULES: tuple[Rule[DetectorBench], ...] = (
    LIGHT,
    DECLARES,
    Rule("detects", "it accepts any run, hostile ones too", detects, needs=("declares",)),
    Rule("calm", "it reports nothing about an honest run", calm, needs=("detects",)),
    Rule("same", "the same runs give the same findings", same, needs=("detects",)),
    Rule("blind", "it opens no answers", blind, needs=("detects",)),
    Rule("untouched", "it changes no files of runs", untouched, needs=("detects",)),
)


def check_detector(name: str, options: Mapping[str, str] | None = None) -> list[Skipped]:
    """Check an installed detector against all rules on a made-up group; ``options`` are those that ``-D`` would give.

    Raises ConformanceError with every rule that is broken; returns the rules that could not be tried here, such as
    those of a detector whose key is not set or whose program is missing.
    """
    __tracebackhide__ = True
    loaded = load("detector", name)
    with tempfile.TemporaryDirectory(prefix="mlecore-kit-") as folder:
        return apply_rules(f"detector {name}", DetectorBench(loaded, options or {}, Path(folder)), RULES)
