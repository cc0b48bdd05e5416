"""``description.md``: what the agent reads, from the prepared public files alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

from mle_ext_own_data.draft import FILE, Draft
from mle_ext_own_data.writing.module import answer_columns, is_recoded, new_id, task_in_words
from mle_ext_own_data.writing.text import code, listed

if TYPE_CHECKING:
    import polars as pl

_LISTED = 12  # values of a category that are listed
_RUN = 4  # columns alike in a row from which on they share a line
_MOST = 200  # lines of the table of columns
_EXAMPLE = 3  # rows of a submission


def description(draft: Draft, public: Path, train: pl.DataFrame, asked: int) -> str:
    """The text, from the public files: the training part, and the number of rows of the test part."""
    with (public / "sample_submission.csv").open(encoding="utf-8") as file:
        sample = [line.rstrip("\n") for line in islice(file, _EXAMPLE + 1)]
    parts = [
        f"# {draft.title}\n\n## The task\n\n{_task(draft)}",
        f"## Files\n\n{_files(draft, len(train), asked)}",
        f"## Columns\n\n{_columns(draft, train)}",
        f"## Submission\n\n{_submission(draft, sample)}",
        f"## Evaluation\n\n{_evaluation(draft)}",
    ]
    return "\n\n".join(parts) + "\n"


def _task(draft: Draft) -> str:
    asked = task_in_words(draft)
    text = f"{asked[0].upper()}{asked[1:]}, for each row of `test.csv`."
    if draft.files is not None:
        text += f" To each row belongs a file, which the column {code(draft.file_column or FILE)} names."
    match draft.split.by:
        case "group":
            text += f" No {code(str(draft.group))} of the test set is in the training set."
        case "time":
            text += f" The rows of the test set are later by {code(str(draft.time))} than those of the training set."
        case _:
            text += " The test set was drawn at random."
    return text


def _files(draft: Draft, train: int, test: int) -> str:
    target = listed(map(code, draft.targets))
    lines = [
        "| file | content |",
        "|---|---|",
        f"| `train.csv` | {train:,} rows with {target} |",
        f"| `test.csv` | {test:,} rows without: predict these |",
    ]
    if draft.files is not None:
        what = {"image": "pictures", "audio": "sounds", "text": "texts"}.get(draft.modality, "files")
        lines += [f"| `{part}/` | the {what} of the rows of `{part}.csv` |" for part in ("train", "test")]
    lines.append("| `sample_submission.csv` | a submission in the right format, with the same answer in every row |")
    return "\n".join(lines)


def _columns(draft: Draft, train: pl.DataFrame) -> str:
    """The id and the targets first, then the others in their order."""
    first = [new_id(draft), *draft.targets]
    kinds = {column.name: column.kind for column in draft.columns}
    runs = [[name] for name in first] + _runs([name for name in train.columns if name not in first], kinds)
    shown = [_row(draft, run, kinds.get(run[0], "id"), train.select(run)) for run in runs[:_MOST]]
    more = sum(map(len, runs[_MOST:]))
    rest = f"\n\nThere are {more:,} further columns." if more else ""
    lines = "\n".join(["| column | type | values | missing |", "|---|---|---|---|", *shown])
    return f"{lines}{rest}\n\nValues are those of the training set."


def _runs(names: Sequence[str], kinds: Mapping[str, str]) -> list[list[str]]:
    """Columns in a row whose names differ in their numbers only, such as pixels, together."""
    alike = groupby(names, key=lambda name: (re.sub(r"\d+", "#", name), kinds.get(name)))
    runs = [list(run) for _, run in alike]
    return [part for run in runs for part in ([run] if len(run) >= _RUN else [[name] for name in run])]


def _row(draft: Draft, names: Sequence[str], kind: str, cells: pl.DataFrame) -> str:
    """A line of the table."""
    shown, known = " … ".join(map(code, dict.fromkeys((names[0], names[-1])))), cells.to_series()
    if len(names) > 1:
        gaps = any((column == "").any() for column in cells)
        return f"| {shown} | {kind} | {len(names):,} columns | {'some' if gaps else ''} |"
    if names[0] == new_id(draft):
        return f"| {shown} | id | names the row | |"
    known = known.filter(known != "")
    share = 1 - len(known) / max(1, len(cells))
    missing = "" if share == 0 else f"{share * 100:.1f} %" if share >= 0.0005 else "< 0.1 %"
    values = _values(kind, known)
    if names[0] in draft.targets:
        stands = f"; 1 stands for {code(str(draft.positive))}" if is_recoded(draft) else ""
        values = f"the target; {values}{stands}"
    return f"| {shown} | {kind} | {values} | {missing} |"


def _values(kind: str, known: pl.Series) -> str:
    import polars as pl

    if kind in ("number", "integer"):
        numbers = known.cast(pl.Float64, strict=False).drop_nulls()
        if len(numbers):
            low, high = (
                f"{end:.6g}".replace("e+", "e") for end in (numbers.to_numpy().min(), numbers.to_numpy().max())
            )
            return f"from {low} to {high}"
    distinct = known.n_unique()
    if kind in ("category", "boolean") or distinct <= _LISTED:
        values = sorted(known.unique().to_list())
        if len(values) <= _LISTED:
            return ", ".join(map(code, values))
        return f"{distinct:,} different ones, such as {listed(map(code, values[:3]))}"
    if kind == "text":
        words = known.str.count_matches(r"\S+")
        return f"{words.min()!s} to {words.max()!s} words" if len(known) else ""
    if kind == "date" and len(known):
        low, high = known.sort()[[0, -1]].to_list()
        return f"from {code(low)} to {code(high)}" if re.match(r"\d{4}-", low) else f"such as {code(known[0])}"
    return f"{distinct:,} different ones"


def _submission(draft: Draft, example: Sequence[str]) -> str:
    columns = answer_columns(draft)
    shown = [*map(code, columns[:20]), *([f"{len(columns) - 20} more"] if len(columns) > 20 else [])]
    match draft.metric.form:
        case "probability":
            form = f"{listed(shown)} {'is a number' if len(columns) == 1 else 'are numbers'} from 0 to 1."
        case "probabilities":
            form = f"{listed(shown)} are numbers from 0 to 1. Each row is divided by its sum, which must be above 0."
        case "labels":
            form = f"{listed(shown)} is a list of labels with blanks between them, and may be empty."
        case "label" if draft.classes and len(draft.classes) <= 50:
            form = f"{listed(shown)} is one of {listed(map(code, draft.classes), 'or')}."
        case "label":
            form = f"{listed(shown)} is one of the labels of the training set."
        case _:
            low = "" if draft.metric.low is None else f" of at least {draft.metric.low:g}"
            form = f"{listed(shown)} {'is a number' if len(columns) == 1 else 'are numbers'}{low}; none may be missing."
    lines = "\n".join(_short(line) for line in example)
    return (
        "A CSV file with a header and one row for each row of `test.csv`:\n\n"
        f"```\n{lines}\n```\n\n{form}\nThe order of rows does not matter, and extra columns are ignored.\n"
        f"The values of {code(new_id(draft))} must be exactly those of `sample_submission.csv`, each once."
    )


def _short(line: str) -> str:
    return line if len(line) <= 300 else f"{line[:300]} …"


def _evaluation(draft: Draft) -> str:
    metric = draft.metric
    better = "Higher" if metric.direction == "maximize" else "Lower"
    return f"The metric is {code(metric.name)}. {metric.words}\n\n> {metric.formula}\n\n{better} is better."
