"""One plugin for its kit, and the rules that kits share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from mlecore.model.options import resolve
from mlecore.plugins.loading import Loaded
from mlecore_testing.declared import option_flaws, secret_flaws, summary_flaws
from mlecore_testing.light import light
from mlecore_testing.rules import Broken, Rule


class Bench:
    """One agent or detector with the options that the caller gives, else its defaults."""

    def __init__(self, loaded: Loaded, options: Mapping[str, str], folder: Path) -> None:
        self.loaded = loaded
        self.given = options
        self.folder = folder

    @property
    def kind(self) -> str:
        return self.loaded.plugin.kind

    @property
    def name(self) -> str:
        return self.loaded.plugin.name

    @cached_property
    def declared(self) -> Any:
        """What it says of itself: the result of the hook ``agent`` or ``detector``."""
        return self.loaded.call(self.kind)

    @cached_property
    def options(self) -> dict[str, str]:
        return resolve(self.declared.options, self.given, f"{self.kind} {self.name}")


def _light(bench: Any) -> Iterator[Broken]:
    return light(bench.loaded.plugin)


def _declares(bench: Bench) -> Iterator[Broken]:
    says = bench.declared
    for what in (*summary_flaws(says.summary), *option_flaws(says.options), *secret_flaws(says.secrets)):
        yield Broken(what, f"{bench.kind}()")
    if bench.loaded.call(bench.kind) != says:
        yield Broken("a different result the second time", f"{bench.kind}()")


LIGHT: Rule[Any] = Rule("light", "importing the plugin imports nothing heavy", _light)
DECLARES: Rule[Any] = Rule("declares", "what it declares is complete, and its options make sense", _declares)
