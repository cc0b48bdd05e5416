"""The main table: a row per setup, with its interval drawn, and columns of splits that open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen
from markupsafe import Markup

from mle_lib_pages.charts import interval_bar
from mlecore.reports.cells import NONE, rate
from mlecore.reports.document import SetupSummary
from mlecore.reports.sections.section import Section


@frozen(kw_only=True)
class Row:
    """``cells`` without the key; ``splits``: the main rate by split."""

    key: str
    cells: tuple[str, ...]
    splits: tuple[str, ...]


@frozen(kw_only=True)
class Table:
    header: tuple[str, ...]
    splits: tuple[str, ...]  # empty if there is one list of competitions only
    rows: tuple[Row, ...]


def setup_table(section: Section, setups: Sequence[SetupSummary], numbers: Mapping[str, int]) -> Table:
    """From the section with one row per setup, in the same order."""
    splits = tuple(dict.fromkeys(row.rates.split for setup in setups for row in setup.rates if row.rates.seeds))
    return Table(
        header=section.header[1:],
        splits=splits if len(splits) > 1 else (),
        rows=tuple(
            Row(
                key=setup.key,
                cells=tuple(
                    _with_bar(cell, setup, numbers[setup.key]) if "INTERVAL" in name else cell
                    for name, cell in zip(section.header[1:], row[1:], strict=True)
                ),
                splits=tuple(_rate(setup, split) for split in splits) if len(splits) > 1 else (),
            )
            for setup, row in zip(setups, section.rows, strict=True)
        ),
    )


def _with_bar(cell: str, setup: SetupSummary, number: int) -> str:
    found = setup.planned_rates
    mean, reach = setup.main_rate, found and found.intervals[setup.goal]
    return Markup("{}{}").format(cell, interval_bar(mean.mean, *reach, number)) if mean and reach else cell


def _rate(setup: SetupSummary, split: str) -> str:
    found = next((row.rates for row in setup.rates if row.rates.split == split), None)
    return rate(found.rates[setup.goal]) if found else NONE
