"""A draft as a table: what was inferred, why, and the flag that overrules it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mle_ext_own_data.draft import Draft

HEADER = ("WHAT", "VALUE", "WHY", "TO CHANGE IT")
Row = tuple[str, str, str, str]


def table(draft: Draft) -> list[Row]:
    """Its rows, below HEADER."""
    return list(_rows(draft))


def _rows(draft: Draft) -> Iterator[Row]:
    why, reading = draft.reasons, draft.reading
    name = draft.table.name if draft.table else "a folder for each class"
    details = f", {reading.encoding}, {_SEPARATORS.get(reading.separator, reading.separator)}"
    yield "data", name + (details if reading.kind == "csv" else ""), f"{draft.rows:,} rows with a target", "--from"
    if draft.files is not None:
        ending = f" + {draft.file_suffix}" if draft.file_suffix else ""
        yield (
            "files",
            f"{draft.modality}: {draft.files}",
            f"named by {draft.file_column}{ending}",
            "--files, --file-column",
        )
    yield "target", ", ".join(draft.targets), "", "--target"
    yield "task", draft.task, why["task"], "--metric"
    if draft.positive is not None and draft.metric.form == "probability":
        yield "class asked", draft.positive, "predictions are its probability", ""
    better = "higher" if draft.metric.direction == "maximize" else "lower"
    yield "metric", f"{draft.metric.name} ({better} is better)", why["metric"], "--metric"
    yield "id", draft.id or "a new column", why["id"], "--id"
    by = "" if draft.split.by in ("random", "stratified") else f" {draft.split.column}"
    yield "split", f"{_SPLITS[draft.split.by]}{by}", why["split"], "--group, --time"
    yield "test part", f"{draft.split.test_size:.0%} of the rows", why["test_size"], "--test-size"
    if draft.drop:
        more = f" and {len(draft.drop) - 5:,} more" if len(draft.drop) > 5 else ""
        yield "dropped", ", ".join(draft.drop[:5]) + more, why["drop"], "--drop"
    left = {draft.id, draft.file_column, *draft.targets, *draft.drop}
    kinds = Counter(column.kind for column in draft.columns if column.name not in left)
    if kinds:
        yield "features", ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()), "", "--drop"


_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
_SPLITS = {"random": "at random", "stratified": "at random, by class", "group": "by", "time": "by"}
