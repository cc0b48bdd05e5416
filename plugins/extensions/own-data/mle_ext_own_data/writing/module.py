"""The package's code: ``__init__.py`` with prepare and grade, ``synthetic.py`` with the schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from attrs import evolve, fields

from mle_ext_own_data.draft import CLASS, FILE, Draft
from mle_ext_own_data.writing.text import call, code, filled, listed, literal, quoted
from mlecore_toolkit import ColumnSchema

_ALIKE = 100  # columns that differ in their names alone, of more of which the names are listed
_FEW = 5  # rows of a class: of fewer, one is for testing


def new_id(draft: Draft) -> str:
    """The name of the column of ids: the draft's, or one that no column has."""
    if draft.id is not None:
        return draft.id
    taken = {column.name for column in draft.columns} | {*draft.classes}
    return next(name for name in ("id", "row_id", "row_number", "_id_of_row_") if name not in taken)


def answer_columns(draft: Draft) -> list[str]:
    """The columns of a submission, without the id."""
    if draft.metric.form == "probabilities":
        return list(draft.classes)
    return list(draft.targets)


def is_recoded(draft: Draft) -> bool:
    """Do 1 and 0 replace the two classes of the table, because a probability is asked?"""
    return draft.metric.form == "probability" and draft.positive is not None and {*draft.classes} != {"0", "1"}


def task_in_words(draft: Draft) -> str:
    """What to predict: an imperative sentence without its full stop."""
    targets = listed(map(code, draft.targets))
    match draft.metric.form:
        case "probability" if draft.positive is not None:
            return f"predict the probability that {targets} is {code(draft.positive)}"
        case "probability":
            return f"predict the probability that each of {targets} is 1"
        case "probabilities":
            return f"predict the probability of each class of {targets}"
        case "labels":
            return f"predict all labels of {targets}"
        case "score":
            return (
                f"rank the rows of each {code(draft.group or '')}: give higher scores to those with a higher {targets}"
            )
        case _:
            return f"predict {targets}"


def raw_names(draft: Draft) -> list[str]:
    """Names of the file and the folder in ``raw/``."""
    return [place.name for place in (draft.table, draft.files) if place is not None]


def init_code(draft: Draft) -> str:
    """``__init__.py``."""
    prepare, grade = _prepare(draft), _grade(draft)
    body = "\n".join([*prepare, *grade])
    known = sorted(
        {name for name in _TOOLKIT if re.search(rf"\b{name}\b", body)} | {"copy_raw_data", draft.metric.function}
    )
    known = sorted({"Format", "Table", *known}, key=lambda name: (not name[0].isupper(), name))
    imports = call("from mlecore_toolkit import ", known, "")
    if len(imports.splitlines()) > 1:
        imports = call("from mlecore_toolkit import (", known, ")")
    fmean = ["from statistics import fmean"] if "fmean(" in body else []
    return "\n".join(
        [
            f'"""{_plain(draft.title)}: {_plain(task_in_words(draft))}."""',
            "",
            "from __future__ import annotations",
            "",
            "from pathlib import Path",
            *fmean,
            "",
            "from mlecore.hookspecs import hookimpl",
            imports,
            "",
            *_constants(draft, body),
            "",
            "",
            "@hookimpl",
            "def fetch(raw: Path) -> None:",
            call(
                "copy_raw_data(",
                ["Path(__file__).parent", "raw", f"[{', '.join(map(quoted, raw_names(draft)))}]"],
                ")",
                4,
            ),
            "",
            "",
            "@hookimpl",
            "def prepare(raw: Path, public: Path, private: Path) -> None:",
            *prepare,
            "",
            "",
            "@hookimpl",
            "def grade(submission: Table, private: Path, format: Format) -> float:",
            *grade,
            "",
        ]
    )


_TOOLKIT = (
    "ensure_unique link_files new_names read_cells read_csv shuffle_rows split split_each split_latest"
    " split_whole_groups write_csv"
).split()


def _plain(text: str) -> str:
    """Text of a docstring."""
    return text.replace("\\", "/").replace('"""', "'''").replace("\n", " ").rstrip('"')


def _constants(draft: Draft, body: str) -> Iterable[str]:
    yield f"ID = {quoted(new_id(draft))}"
    if len(draft.targets) == 1:
        yield f"TARGET = {quoted(draft.targets[0])}"
    else:
        yield call("TARGETS = [", [*map(quoted, draft.targets)], "]")
    if "GROUP" in body:
        yield f"GROUP = {quoted(str(draft.group))}"
    if "CLASSES" in body:
        yield call("CLASSES = [", [*map(quoted, draft.classes)], "]")


def _prepare(draft: Draft) -> list[str]:
    targets = "TARGET" if len(draft.targets) == 1 else "*TARGETS"
    hidden = [name for name in draft.drop if name in (draft.group, draft.time)]  # which the split needs
    dropped = [name for name in draft.drop if name not in hidden]
    lines = [*_read(draft, _dropping(dropped))]
    if draft.left_out:
        lines.append(f"table = table.filter({_has_target(draft)})  # {draft.left_out:,} rows have no target")
    if is_recoded(draft):
        lines.append(f"table = table.with_columns((pl.col(TARGET) == {quoted(str(draft.positive))}).cast(int))")
    if draft.id:
        lines.append('ensure_unique(table[ID], f"values of {ID}")')
    if draft.delimiter not in (None, " "):
        lines.append("# labels with blanks between them, as in submissions")
        lines.append(f"table = table.with_columns({_labels(draft)})")
    lines += _split(draft)
    if not draft.id:
        lines.append("# numbered after the rows are shuffled: a number tells nothing")
        lines.append("train, test = train.with_row_index(ID), test.with_row_index(ID, offset=len(train))")
    if draft.files is not None:
        lines += _files(draft)
    lines += [
        f'write_csv(train{_dropping(hidden)}, public / "train.csv")',
        f'write_csv(test.drop({", ".join([targets, *map(quoted, hidden)])}), public / "test.csv")',
        f"answers = test.select(ID, {_answers(draft, targets)})",
        'write_csv(answers, private / "test.csv")',
        *_sample(draft),
        'write_csv(sample, public / "sample_submission.csv")',
    ]
    if any("pl." in line for line in lines):
        lines = ["import polars as pl", "", *lines]
    return [f"    {line}" if line else "" for part in lines for line in part.split("\n")]


def _dropping(names: Sequence[str]) -> str:
    return f".drop({', '.join(map(quoted, names))})" if names else ""


def _read(draft: Draft, drop: str) -> Iterable[str]:
    if draft.table is not None:
        parts = [f"raw / {quoted(draft.table.name)}", *reading_options(draft)]
        yield call("table = read_cells(", parts, f"){drop}")
        return
    assert draft.files is not None
    folder = f"raw / {quoted(draft.files.name)}"
    yield f'files = sorted(path.relative_to({folder}) for path in ({folder}).glob("*/**/[!.]*") if path.is_file())'
    yield "rows = [(path.as_posix(), path.parts[0]) for path in files]"
    yield f'table = pl.DataFrame(rows, schema=[{quoted(FILE)}, {quoted(CLASS)}], orient="row"){drop}'


def reading_options(draft: Draft) -> list[str]:
    """The arguments of ``read_cells`` and ``write_cells`` that differ from their defaults."""
    reading = draft.reading
    usual = {"separator": ",", "encoding": "utf-8", "decimal": ".", "member": None}
    return [
        f"{name}={literal(getattr(reading, name))}" for name, value in usual.items() if getattr(reading, name) != value
    ]


def _has_target(draft: Draft) -> str:
    if draft.task in ("binary", "multi-class", "ordinal") and draft.classes:
        return "pl.col(TARGET).is_in(CLASSES)"
    if draft.delimiter is not None:
        return 'pl.col(TARGET) != ""'
    if len(draft.targets) > 1:
        return "pl.all_horizontal(pl.col(TARGETS).cast(float, strict=False).is_finite())"
    return "pl.col(TARGET).cast(float, strict=False).is_finite()"


def _labels(draft: Draft) -> str:
    cells = "pl.col(TARGET)"
    if any(" " in label for label in draft.classes):
        cells += '.str.replace_all(" ", "_", literal=True)'
    return f'{cells}.str.replace_all({quoted(str(draft.delimiter))}, " ", literal=True)'


def _split(draft: Draft) -> list[str]:
    size = f"test_size={draft.split.test_size:g}"
    match draft.split.by:
        case "random":
            return [f"train, test = split(table, {size})"]
        case "stratified":
            positions = f"split_each(table[{_column(draft, draft.split.column)}].to_list(), {size}, few={_FEW})"
            why = "each class has its share of the test part"
        case "group":
            positions = f"split_whole_groups(table[{_column(draft, draft.split.column)}].to_list(), {size})"
            why = "all rows of a group are in one part"
        case "time":
            positions = f"split_latest({_times(draft)}, {size})"
            why = "the test part is later"
    return [
        f"# {why}",
        f"train, test = {positions}",
        "train, test = shuffle_rows(table[train]), shuffle_rows(table[test])",
    ]


def _column(draft: Draft, name: str | None) -> str:
    if [name] == [*draft.targets]:
        return "TARGET"
    return "GROUP" if name == draft.group else quoted(str(name))


def _times(draft: Draft) -> str:
    column, form = f"table[{quoted(str(draft.time))}]", draft.time_form
    kinds = {schema.name: schema.kind for schema in draft.columns}
    if form is not None:
        kind = "datetime" if "%H" in form else "date"
        return f"{column}.str.to_{kind}({quoted(form)}, strict=False)"
    if kinds.get(str(draft.time)) == "date":  # of Parquet: they sort as their texts do
        return f'{column}.replace("", None)'
    return f"{column}.cast(float, strict=False)"


def _files(draft: Draft) -> list[str]:
    assert draft.files is not None
    column, suffix = quoted(draft.file_column or FILE), draft.file_suffix
    old = f'f"{{old}}{suffix}"' if suffix else "old"
    ending = quoted(suffix) if suffix else "Path(old).suffix.lower()"
    return [
        "# new names, because the old ones may tell the target",
        f'names = new_names(table[{column}].unique().to_list(), "########", seed=0)',
        f"names = {{old: new + {ending} for old, new in names.items()}}",
        'for part, folder in ((train, "train"), (test, "test")):',
        f"    files = {{{old}: names[old] for old in part[{column}]}}",
        f"    link_files(raw / {quoted(draft.files.name)}, public / folder, files)",
        f"train, test = (part.with_columns(part[{column}].replace_strict(names)) for part in (train, test))",
    ]


def _answers(draft: Draft, targets: str) -> str:
    """The columns of the answers, besides the id."""
    match draft.metric.form:
        case "probabilities":
            return "*((pl.col(TARGET) == label).cast(int).alias(label) for label in CLASSES)"
        case "score":
            return "GROUP, TARGET"
        case _:
            return targets


def _sample(draft: Draft) -> list[str]:
    """The same answer in every row, which a model should beat."""
    several = len(draft.targets) > 1
    match draft.metric.form:
        case "probability" if several:
            value = "*(pl.lit(0.5).alias(target) for target in TARGETS)"
        case "probability":
            value = "pl.lit(0.5).alias(TARGET)"
        case "probabilities":
            value = "*(pl.lit(1 / len(CLASSES)).alias(label) for label in CLASSES)"
        case "number" if several:
            return [
                "means = train.select(pl.col(TARGETS).cast(float).mean())",
                'sample = test.select(ID).join(means, how="cross")',
            ]
        case "number":
            value = "pl.lit(train[TARGET].cast(float).mean()).alias(TARGET)"
        case "score":
            value = "pl.lit(0.0).alias(TARGET)"
        case "labels":
            value = f"pl.lit({quoted(draft.classes[0].replace(' ', '_'))}).alias(TARGET)"
        case "label":
            value = "pl.lit(train[TARGET].mode().sort()[0]).alias(TARGET)"
    return [f"sample = answers.select(ID, {value})"]


def _grade(draft: Draft) -> list[str]:
    function, form = draft.metric.function, draft.metric.form
    read = 'private / "test.csv"'
    match form:
        case "score":
            read = f"read_csv({read})"
            score = f"{function}(truth[GROUP], truth[TARGET], predictions[TARGET])"
        case "probabilities":
            score = f"{function}(truth[CLASSES], predictions[CLASSES])"
        case "number" if len(draft.targets) > 1:
            score = f"fmean({function}(truth[target], predictions[target]) for target in TARGETS)"
        case _:
            name = "TARGET" if len(draft.targets) == 1 else "TARGETS"
            score = f"{function}(truth[{name}], predictions[{name}])"
    return [f"    truth, predictions = format.read(submission, {read})", f"    return {score}"]


def schema_code(schema: Iterable[ColumnSchema]) -> str:
    """``SCHEMA = [...]``."""
    lines = []
    for alike, run in groupby(schema, lambda column: evolve(column, name="")):
        names = [column.name for column in run]
        if len(names) < _ALIKE:
            lines += [f"{_column_code(evolve(alike, name=name))},\n" for name in names]
            continue
        one = _column_code(evolve(alike, name="name")).lstrip().replace('"name"', "name", 1)
        every = "".join(f"            {line}\n" for line in filled(list(map(quoted, names)), 108))
        lines.append(f"    *(\n        {one}\n        for name in (\n{every}        )\n    ),\n")
    return "SCHEMA = [\n" + "".join(lines) + "]"


def _column_code(column: ColumnSchema) -> str:
    parts = [quoted(column.name), quoted(column.kind)]
    for attribute in fields(ColumnSchema)[2:]:
        value = getattr(column, attribute.name)
        if value == attribute.default or (attribute.name == "decimals" and column.kind != "number"):
            continue
        part = f"{attribute.name}={literal(value)}"
        if isinstance(value, tuple) and len(part) > 120 - 9:
            part = call(f"{attribute.name}=(", [*map(literal, value)], ")", 8).lstrip()
        parts.append(part)
    return call("ColumnSchema(", parts, ")", 4)
