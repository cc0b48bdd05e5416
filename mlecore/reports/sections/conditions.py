"""Under which conditions the runs were, and how figures were computed."""

from __future__ import annotations

from collections.abc import Sequence

from mlecore.reports.cells import NONE
from mlecore.reports.document import Document, SetupSummary
from mlecore.reports.methods import methods as methods_of
from mlecore.reports.sections.section import Section, section


def differences(setups: Sequence[SetupSummary]) -> Section:
    """Conditions that are not the same for all runs of a setup."""
    rows = [(setup.key, name, " | ".join(values)) for setup in setups for name, values in setup.differences.items()]
    return section("differences", "Conditions that differ within a setup", ("SETUP", "CONDITION", "VALUES"), rows)


def conditions(setups: Sequence[SetupSummary]) -> Section:
    """Those that all setups share, then one column per setup."""
    names = dict.fromkeys(name for setup in setups for name in setup.conditions)
    values = {name: [setup.conditions.get(name, NONE) for setup in setups] for name in names}
    alike = {name: of[0] for name, of in values.items() if len(set(of)) == 1}
    keys = [setup.key for setup in setups]
    every = "ALL" if len(keys) > 1 else keys[0]
    rows = [(name, of, *([NONE] * len(keys))) for name, of in alike.items()]
    rows += [(name, NONE, *of) for name, of in values.items() if name not in alike]
    return section("conditions", "Conditions", ("CONDITION", every, *keys), rows)


def methods(document: Document) -> Section:
    rows = [(each.figure, each.computed, each.source or NONE) for each in methods_of(document)]
    return section("methods", "How the figures are computed", ("FIGURE", "COMPUTED AS", "SOURCE"), rows)
