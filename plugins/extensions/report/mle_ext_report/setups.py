"""Runs by setup (one agent with its options and model), and the seeds of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from mle_ext_report.graded import Graded
from mle_ext_report.names import names
from mlecore.model.data_kind import DataKind
from mlecore.model.record import RunRecord


@frozen(kw_only=True)
class Setup:
    """Planned runs of one agent, with one set of options and one model."""

    name: str  # on every page
    first: RunRecord  # has its agent, options and model
    runs: tuple[Graded, ...]  # by competition, seed and group; those that are missing too
    half: DataKind | None  # of its data, where another setup has the same agent's runs on other data

    @property
    def counted(self) -> list[Graded]:
        """The runs that count as results."""
        return [graded for graded in self.runs if graded.counts]

    @property
    def edition(self) -> str:
        return self.first.edition


def setups(graded: Iterable[Graded]) -> list[Setup]:
    """Runs by setup, in order of first appearance.

    One setup may have competitions with synthetic data beside others with published ones. Only where an agent ran the
    same competition on two kinds of data, it has a setup for each kind.
    """
    graded = _with_kinds(_with_agents(list(graded)))
    kinds: dict[tuple[object, ...], set[DataKind | None]] = defaultdict(set)
    for item in graded:
        kinds[_key(item.run), item.run.competition].add(item.run.data_kind)
    halved = {key for (key, _), of in kinds.items() if len(of - {None}) > 1}
    found: dict[tuple[object, DataKind | None], list[Graded]] = defaultdict(list)
    for item in graded:
        key = _key(item.run)
        found[key, item.run.data_kind if key in halved else None].append(item)
    firsts = [_known(items) for items in found.values()]
    groups = [", ".join(sorted({item.run.group for item in items})) for items in found.values()]
    return [
        Setup(name=name, runs=tuple(sorted(items, key=_order)), first=first, half=half)
        for name, first, ((_, half), items) in zip(names(firsts, groups), firsts, found.items(), strict=True)
    ]


def _with_kinds(graded: Iterable[Graded]) -> list[Graded]:
    """A run that has not begun gets the kind of data of its competition's other runs, else that of its group's."""
    graded = list(graded)
    kinds: dict[tuple[object, ...], DataKind] = {}
    for item in graded:
        if item.run.data_kind is not None:
            for scope in _scopes(item.run):
                kinds.setdefault(scope, item.run.data_kind)
    return [
        item
        if item.run.data_kind is not None
        else evolve(
            item, run=evolve(item.run, data_kind=next((kinds[s] for s in _scopes(item.run) if s in kinds), None))
        )
        for item in graded
    ]


def _with_agents(graded: Sequence[Graded]) -> list[Graded]:
    """A run that has not begun gets the agent that its group's others began with: its plan leaves out what is usual."""
    begun = {_planned(item.run): item.run.agent for item in graded if item.run.agent.version}
    return [
        item
        if item.run.agent.version
        else evolve(item, run=evolve(item.run, agent=begun.get(_planned(item.run), item.run.agent)))
        for item in graded
    ]


def _planned(run: RunRecord) -> tuple[str, str, str]:
    return run.group_uid, run.agent.name, run.label


def _known(items: Sequence[Graded]) -> RunRecord:
    """A run that stands for all: one that counts, as a planned one has no version yet."""
    return next((item.run for item in items if item.counts), items[0].run)


def _key(run: RunRecord) -> tuple[object, ...]:
    options = tuple(sorted(run.agent.options.items()))
    return run.agent.name, run.label, options, run.model, run.edition, run.obfuscation


def are_halves(a: Setup, b: Setup) -> bool:
    """Do two setups differ only in the kind of data?"""
    return _key(a.first) == _key(b.first)


def differ_in_edition(a: Setup, b: Setup) -> bool:
    """Do two setups differ only in the edition?"""
    alike = _key(evolve(a.first, edition="")) == _key(evolve(b.first, edition=""))
    return alike and a.edition != b.edition and a.half == b.half


def _scopes(run: RunRecord) -> Sequence[tuple[object, ...]]:
    """The sets of runs whose kind of data a run is assumed to share, the nearest first."""
    key = _key(run)
    return (run.group_uid, run.competition), (*key, run.group_uid), key


def _order(item: Graded) -> tuple[str, int, str, str]:
    return item.run.competition, item.run.seed, item.run.group, item.run.uid


def seeds(runs: Sequence[Graded]) -> dict[str, dict[str, Graded]]:
    """Seed -> competition -> run, missing ones included.

    Two groups may be halves of one experiment (other competitions, the same seeds) or the same one again. So runs of
    one seed from several groups are one seed as long as no competition was planned twice; else "0" and "0 of <group>".
    """
    found: dict[str, dict[str, Graded]] = {}
    by_part: dict[tuple[int, str], dict[str, Graded]] = defaultdict(dict)
    for item in runs:
        by_part[(item.run.seed, item.run.group_uid)].setdefault(item.run.competition, item)
    for (number, _), part in sorted(by_part.items(), key=lambda pair: pair[0][0]):
        label = str(number)
        if label in found and found[label].keys() & part.keys():
            label = f"{number} of {next(iter(part.values())).run.group}"
            while label in found:
                label += "+"
        found.setdefault(label, {}).update(part)
    return found
