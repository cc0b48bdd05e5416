"""Mutated submissions: hundreds, seeded, each with a name that says how it differs from a good one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest

from attrs import frozen

from mlecore_audit.mutants.cells import single_cells, whole_columns, words
from mlecore_audit.mutants.columns import columns
from mlecore_audit.mutants.grid import Edit, Grid
from mlecore_audit.mutants.rows import rows
from mlecore_audit.mutants.text import FILES

__all__ = ["Grid", "Mutant", "mutants"]


@frozen
class Mutant:
    """One mutated submission."""

    name: str  # "sample: row 3 missing"
    data: bytes


def mutants(bases: Mapping[str, bytes], ids: Sequence[str], seed: int) -> Iterator[Mutant]:
    """Every mutation of each base once, one of each kind in turn; then endless pairs of them.

    ``bases`` are submissions by name, ``ids`` the columns that name a row. The same arguments give the same stream, so
    a shorter one is the beginning of a longer one; even a short one has every kind.
    """
    dice = random.Random(seed)
    grids = {name: Grid.parse(data) for name, data in bases.items()}
    # kinds of edits, each with the base's name
    whole, single, lists, other_rows, other_columns = [], [], [], [], []
    for name, grid in grids.items():
        targets = [column for column in grid.header if column not in ids]
        whole += [(name, edit) for edit in whole_columns(grid, targets, dice)]
        single += [(name, edit) for edit in single_cells(grid, targets, dice)]
        lists += [(name, edit) for edit in words(grid, targets, dice)]
        other_rows += [(name, edit) for edit in rows(grid, ids, dice)]
        other_columns += [(name, edit) for edit in columns(grid)]
    kinds: list[list[tuple[str, str, Callable[[], bytes]]]] = [
        [(name, edit.name, partial(_edited, grids[name], edit)) for name, edit in kind]
        for kind in (whole, single, lists, other_rows, other_columns)
    ]
    kinds.append([(name, what, partial(change, data)) for name, data in bases.items() for what, change in FILES])
    for kind in kinds:
        dice.shuffle(kind)
    for one in chain.from_iterable(zip_longest(*kinds)):
        if one is not None:
            name, what, make = one
            yield Mutant(f"{name}: {what}", make())
    values, shapes = [*whole, *single, *lists], [*other_rows, *other_columns]
    while values and shapes:
        name, first = dice.choice(values)
        second = dice.choice([edit for of, edit in shapes if of == name])
        mutated = second.apply(first.apply(grids[name]))  # the second may remove columns, the first must not
        yield Mutant(f"{name}: {first.name}; {second.name}", mutated.render())


def _edited(grid: Grid, edit: Edit) -> bytes:
    return edit.apply(grid).render()
