"""Detectors that can judge here: loaded, their options resolved, their keys and programs found."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

from attrs import frozen

from mlecore.detecting.view import unavailable
from mlecore.errors import MlecoreError, UsageError, remember
from mlecore.model.detectors import Detector
from mlecore.model.options import resolve
from mlecore.model.provenance import PluginUse, plugin_use
from mlecore.plugins.discovery import installed
from mlecore.plugins.loading import load

GivenOptions = Mapping[str, Mapping[str, str]]
"""Detector -> its options by name, as the user gave them."""


@frozen(kw_only=True)
class ReadyDetector:
    """One that can judge runs."""

    detector: Detector
    use: PluginUse  # with all options that have a value

    @property
    def name(self) -> str:
        return self.use.name

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables that its process gets in addition to those of ``child_environment``."""
        named = [option.name for option in self.detector.options if option.type == "variable"]
        chosen = [self.use.options[name] for name in named if name in self.use.options]
        return (*self.detector.secrets, *self.detector.variables, *chosen)


def ready(name: str, options: Mapping[str, str]) -> ReadyDetector:
    """The detector ``name``. Raises UsageError if something that it needs is missing, and PluginError."""
    loaded = load("detector", name)
    declared: Detector = loaded.call("detector")
    resolved = resolve(declared.options, options, f"detector {name}")
    for secret in declared.secrets:
        if not os.environ.get(secret):
            raise UsageError(f"detector {name} needs the variable {secret}, which is not set")
    for program in declared.programs:
        if shutil.which(program) is None:
            raise UsageError(f"detector {name} needs the program {program}, which is not on PATH")
    found = ReadyDetector(detector=declared, use=plugin_use(loaded.plugin, resolved))
    for variable in found.variables:
        remember(os.environ.get(variable, ""))
    return found


def choose(names: Sequence[str], options: GivenOptions) -> tuple[list[ReadyDetector], list[str]]:
    """The named detectors, or all that are installed and can judge here, and remarks on what does not work.

    Raises UsageError and PluginError for one that is named, or that options are given for.
    """
    wanted = list(dict.fromkeys(names)) or [plugin.name for plugin in installed("detector") if plugin.state == "ok"]
    for name in options:
        if name not in wanted:
            if not names:
                load("detector", name)  # raises, with what is wrong
            raise UsageError(f"options are given for the detector {name}, which is not selected")
    chosen: list[ReadyDetector] = []
    remarks: list[str] = []
    for name in wanted:
        try:
            chosen.append(ready(name, options.get(name, {})))
        except MlecoreError as error:
            if names or name in options:
                raise
            if not isinstance(error, UsageError):  # nobody asked for one that is not set up
                remarks.append(f"{error.message}; it is skipped")
    if not names:
        broken = [plugin for plugin in installed("detector") if plugin.state in ("broken", "incompatible")]
        remarks += [f"detector {plugin.name} judges no run: it is {plugin.state}: {plugin.reason}" for plugin in broken]
    if chosen and (why := unavailable()):
        remarks.append(f"detectors run without a sandbox here, where they can read the answers: {why}")
    return chosen, remarks
