"""Everything on the site as JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from attrs import asdict
from mle_ext_report.export import as_csv
from mle_ext_report.published import SOURCE, SPLITS, published

from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.tables import Row, Standing, Table


def board_json(board: Board, found: Sequence[Standing], shown: Sequence[Table]) -> bytes:
    """leaderboard.json: tables, standings, and the published results."""
    values = {
        "format": 1,
        "title": board.rules.title,
        "rules": asdict(board.rules),
        "tables": [_table(table) for table in shown],
        "entries": [_standing(standing) for standing in found],
        "published": {
            "source": SOURCE,
            "checked": False,
            "entries": [asdict(entry) for entry in published()] if board.rules.published else [],
        },
    }
    return msgspec.json.format(msgspec.json.encode(values), indent=1) + b"\n"


def _table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "conditions": dict(table.conditions),
        "competitions": list(table.ids),
        "goal": table.goal,
        "left_out": table.left_out,
        "marks": table.marks,
        "rows": [_row(row) for row in table.rows],
    }


def _row(row: Row) -> dict[str, Any]:
    values = asdict(row, filter=lambda attribute, _: attribute.name not in ("standing", "ranked"))
    ranked = asdict(row.ranked, filter=lambda attribute, _: attribute.name != "like")
    return {"entry": row.standing.name, **ranked, **values, "tags": list(row.standing.tags)}


def _standing(standing: Standing) -> dict[str, Any]:
    check = standing.check
    return {
        "name": standing.name,
        "ranked": standing.ranked,
        "why": standing.why,
        "corrected_by": standing.corrected_by,
        "retracted_by": standing.retracted_by,
        "entry": asdict(check.entry) if check.entry else None,
        "remarks": [asdict(remark) for remark in check.remarks],
        "disclosures": [asdict(line) for line in check.lines],
        "signed": [
            {"signer": str(signed.signer), "role": signed.statement.predicate.role, "says": str(signed.statement)}
            for signed in check.signed
        ],
    }


def entry_json(standing: Standing) -> bytes:
    """One entry with its results."""
    values = {**_standing(standing), "results": standing.check.results}
    return msgspec.json.encode(values) + b"\n"


def entries_csv(shown: Sequence[Table]) -> str:
    """A line per entry and table."""
    header = "table rank rank_low rank_high entry agent version models goal rate rate_low rate_high percentile".split()
    header += "seeds runs valid hours_per_run usd tags like left_out".split()
    return as_csv(header, [_cells(table, row) for table in shown for row in table.rows])


def _cells(table: Table, row: Row) -> list[object]:
    entry, place = row.standing.check.entry, row.ranked
    assert entry is not None
    low, high = place.interval or (None, None)
    values: list[object] = [table.title, place.rank, *place.ranks, row.standing.name, entry.agent, entry.version]
    values += ["; ".join(entry.models), table.goal, place.rate, low, high, row.percentile, row.seeds, row.runs]
    values += [row.valid, row.hours]
    return [*values, row.usd, " ".join(row.standing.tags), " ".join(row.like), table.left_out]


def runs_csv(found: Sequence[Standing]) -> str:
    """A line per run of all entries that are not rejected."""
    names = ["competition", "seed", "state", "submission", "score", "medal", "above_median", "beats_sample"]
    names += ["hours", "limit_hours", "usd", "tokens", "ranked", "percentile"]
    results = [(each.name, each.check.results) for each in found if each.check.results and not each.check.exit_code]
    return as_csv(
        ["entry", "edition", *names],
        ([name, of.edition, *(getattr(run, each) for each in names)] for name, of in results for run in of.runs),
    )


def published_csv() -> str:
    """The published results."""
    header = ["agent", "models", "date", "hours", *(name for split in SPLITS for name in (split, f"{split}_sem"))]
    return as_csv([*header, "known_leak", "source_available", "checked"], list(_published()))


def _published() -> Iterator[list[str]]:
    for entry in published():
        rates = [str(value) for split in SPLITS for value in entry.rates[split]]
        flags = ["yes" if flag else "no" for flag in (entry.known_leak, entry.source_available)]
        yield [entry.agent, entry.models, entry.date, f"{entry.hours:g}", *rates, *flags, "no"]
