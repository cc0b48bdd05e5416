"""``competition.toml``: the facts, the form of submissions, and what the prepared data must be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mle_ext_own_data.draft import Draft
from mle_ext_own_data.writing.module import answer_columns, new_id
from mle_ext_own_data.writing.text import key, quoted

_TASKS = {
    "binary": "binary classification",
    "multi-class": "multi-class classification",
    "ordinal": "ordinal regression",
    "multi-label": "multi-label classification",
}
# words that pandas reads as something else than text
_NO_TEXT = {
    "",
    "na",
    "n/a",
    "nan",
    "null",
    "none",
    "true",
    "false",
    "inf",
    "infinity",
    "#n/a",
    "<na>",
    "-nan",
    "-inf",
    "1.#ind",
}


def test_part(draft: Draft) -> str:
    """How the test part was drawn, in words."""
    share = f"{draft.split.test_size * 100:g} %"
    match draft.split.by:
        case "group":
            return f"{share} of the rows, drawn at random, with all rows of the same {draft.group} in one part"
        case "time":
            return f"the latest {share} of the rows by {draft.time}"
        case "stratified":
            return f"{share} of the rows of each class, drawn at random"
        case _:
            return f"{share} of the rows, drawn at random"


def facts_text(draft: Draft, rows: Mapping[str, int], files: Mapping[str, int], md5: Mapping[str, str]) -> str:
    """The file. ``rows`` and ``files``: of the prepared data, by path, ``md5`` of their tables."""
    lines = [
        f"id = {quoted(draft.name)}",
        f"title = {quoted(draft.title)}",
        f"modality = {quoted(draft.modality)}",
        f"task = {quoted(_TASKS.get(draft.task, draft.task))}",
        f"metric = {quoted(draft.metric.name)}",
        f"direction = {quoted(draft.metric.direction)}",
        'answers = "private/test.csv"',
        'sample = "public/sample_submission.csv"',
        f"test_part = {quoted(test_part(draft)[0].upper() + test_part(draft)[1:] + '.')}",
    ]
    if draft.split.by == "group" and draft.group is not None and draft.group not in draft.drop:
        lines.append(f"group = {quoted(draft.group)}  # the kit checks that no group is in both parts")
    lines += ["", "[submission]", f"id = {quoted(new_id(draft))}", *_columns(draft)]
    lines += ["", "# of the real data: other data are refused. Remove both tables if you change prepare.", "[md5]"]
    lines += [f"{key(path)} = {quoted(value)}" for path, value in md5.items()]
    lines += ["", "[expect]", *(f"{key(path)} = {{ rows = {count} }}" for path, count in rows.items())]
    lines += [f"{key(path)} = {{ files = {count} }}" for path, count in files.items()]
    return "\n".join(lines) + "\n"


def _columns(draft: Draft) -> Iterable[str]:
    form = draft.metric.form
    if form == "probabilities":
        yield "rescale = true  # each row is divided by its sum"
        yield 'columns."*" = { type = "number", low = 0, high = 1 }'
        return
    rules = {
        "probability": '{ type = "number", low = 0, high = 1 }',
        "labels": '{ type = "any", verbatim = true }',
        "label": _label(draft),
    }
    number = '{ type = "number" }' if draft.metric.low is None else f'{{ type = "number", low = {draft.metric.low:g} }}'
    for column in answer_columns(draft):
        yield f"columns.{key(column)} = {rules.get(form, number)}"


def _label(draft: Draft) -> str:
    if draft.numeric_classes and draft.classes:
        numbers = [int(label) for label in draft.classes]
        return f'{{ type = "label", low = {min(numbers)}, high = {max(numbers)} }}'
    if not draft.classes:
        return '{ type = "label" }'
    if any(label.lower() in _NO_TEXT or not re.match(r"[^\W\d_]", label) for label in draft.classes):
        return '{ type = "any", verbatim = true }  # classes that look like numbers or gaps are compared as text'
    return f'{{ type = "text", choices = [{", ".join(map(quoted, draft.classes))}] }}'
