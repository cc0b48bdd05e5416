"""Infers a competition from its rows; what a user asked for is never changed, but refused if it cannot be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from mle_ext_own_data import folders, schemas, targets
from mle_ext_own_data.draft import CLASS, Draft, Modality, Split
from mle_ext_own_data.reading import Rows
from mle_ext_own_data.targets import Target
from mle_ext_own_data.writing.telling import follows
from mlecore.errors import UsageError
from mlecore.util.schema import brief

if TYPE_CHECKING:
    import polars as pl

TEST_SIZE = 0.2
_ID = re.compile(
    r"(^|[_\W])(id|uuid|guid|key|index|idx|number|no|nr|#)$|[a-z]I[Dd]$|^id([_\W]|$)|^#$|^Unnamed: \d+$", re.I
)
_NUMBER = re.compile(r"\s*[-+]?\d*\.?\d+(e[-+]?\d+)?(\.\d+)?\s*", re.I)  # also 5.1.1, a repeated one
_COUNTER = re.compile(r"^Unnamed: \d+$|^__index_level_\d+__$")
_LARGE = 100_000  # cells compared at most


@frozen(kw_only=True)
class Asked:
    """What the user asked for, by the command's options."""

    name: str
    title: str
    targets: tuple[str, ...] = ()
    metric: str | None = None
    id: str | None = None
    group: str | None = None
    time: str | None = None
    file_column: str | None = None
    test_size: float | None = None
    drop: tuple[str, ...] = ()


def infer(rows: Rows, asked: Asked) -> Draft:
    """The draft. Raises UsageError that says what to name instead."""
    names = rows.frame.columns
    wanted = asked.targets or ((CLASS,) if rows.table is None else ())
    if not wanted:
        raise UsageError("the column to predict is not named", fix=f"Name it: --target COLUMN. {_near('', names)}")
    _require(rows, asked, wanted)
    frame, notes = _with_target(rows, wanted)
    found = folders.find(evolve(rows, frame=frame), asked.file_column, wanted)
    target = targets.understand(frame, wanted, asked.group, asked.metric)
    reasons = {"task": target.why, "metric": target.why_metric}
    form = _times(frame, asked.time, notes)
    split, reasons["split"] = _split(frame, asked, wanted, target, form)
    reasons["test_size"] = "asked for by --test-size" if asked.test_size else "the usual share"
    kept = [name for name in names if name not in (*asked.drop, *wanted)]
    drop, why_drop = _dropped(frame, kept, asked)
    id, reasons["id"], unfit = _id(frame, [name for name in kept if name not in drop], target, wanted, asked, found)
    drop, why_drop = (*drop, *unfit), [*why_drop, *unfit.values()]
    reasons["drop"] = "; ".join([*(["asked for by --drop"] if asked.drop else []), *why_drop])
    if all(name in (*drop, id, *((found[1],) if found else ()), *wanted) for name in names) and found is None:
        raise UsageError("no column is left to predict the target from", fix="Drop less, or name a table with more.")
    media: Modality = "tabular" if found is None else folders.modality(frame[found[1]].head(1000).cast(str).to_list())
    if found is not None and found[2]:
        media = folders.modality([f"x{found[2]}"])
    columns = tuple(
        schemas.schema(
            frame[name], file=found is not None and name == found[1], group=name == asked.group, target=name in wanted
        )
        for name in names
        if frame[name].null_count() < frame.height
    )
    notes += _odd(frame, target, wanted)
    return Draft(
        name=asked.name,
        title=asked.title,
        table=rows.table,
        reading=rows.reading,
        files=found[0] if found else None,
        file_column=found[1] if found else None,
        file_suffix=found[2] if found else "",
        modality=media,
        id=id,
        targets=wanted,
        delimiter=target.delimiter,
        task=target.task,
        classes=target.classes,
        numeric_classes=target.numeric,
        positive=target.positive,
        metric=target.metric,
        split=split,
        group=asked.group,
        time=asked.time,
        time_form=form.replace("%.f", ".%f") if form else None,
        drop=drop,
        rows=frame.height,
        left_out=rows.frame.height - frame.height,
        columns=columns,
        reasons=reasons,
        notes=(*rows.notes, *notes),
    )


def _near(name: str, names: Sequence[str]) -> str:
    """Advice for a column that does not exist."""
    from difflib import get_close_matches

    lower = {each.strip().lower(): each for each in names}
    close = get_close_matches(name.strip().lower(), list(lower), n=3, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(brief(lower[each]) for each in close)}?"
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"Its columns are: {shown}"


def _require(rows: Rows, asked: Asked, wanted: Sequence[str]) -> None:
    """Raises UsageError for a column that does not exist, or is asked for twice."""
    names = rows.frame.columns
    options = {"--id": asked.id, "--group": asked.group, "--time": asked.time, "--file-column": asked.file_column}
    given = [("--target", name) for name in wanted] + [("--drop", name) for name in asked.drop]
    for option, name in [*given, *((option, name) for option, name in options.items() if name is not None)]:
        if name not in names:
            where = rows.table.name if rows.table else str(rows.files)
            advice = _near(name, names)
            if rows.reading.kind == "csv" and any(_NUMBER.fullmatch(name) for name in names):
                advice += "\nIf that is a row, give the file a first line with the names of its columns."
            raise UsageError(f"{option} {name}: {where} has no such column", fix=advice)
    if len(set(wanted)) < len(wanted):
        raise UsageError(f"--target {next(n for n in wanted if list(wanted).count(n) > 1)} is named twice")
    for name in wanted:
        for option, other in [*options.items(), *(("--drop", name) for name in asked.drop)]:
            if other == name:
                raise UsageError(f"{name} cannot be both --target and {option}")
        if f"{name}.1" in names:
            raise UsageError(
                f"two columns are called {name}, so --target {name} could be either", fix="Give each its own name."
            )
    if asked.id in asked.drop:  # a group or a time may be hidden from agents
        raise UsageError(f"{asked.id} cannot be both --id and --drop")
    if asked.group and asked.time:
        raise UsageError("--group and --time cannot be used together", fix="Name what the split goes by.")
    if asked.test_size is not None and not 0 < asked.test_size < 1:
        raise UsageError(f"--test-size {asked.test_size:g} is no share of the rows", fix="Such as: --test-size 0.2")


def _with_target(rows: Rows, wanted: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """The rows whose targets are known."""
    import polars as pl

    known = pl.lit(True)
    for name in wanted:
        column = pl.col(name)
        known = known & (column.is_finite() if rows.frame.schema[name].is_float() else column.is_not_null()).fill_null(
            False
        )
    frame = rows.frame.filter(known)
    left_out = rows.frame.height - frame.height
    if left_out * 2 > rows.frame.height:
        raise UsageError(
            f"{left_out:,} of {rows.frame.height:,} rows have no {' or '.join(wanted)} (empty, NA, None, infinite)",
            fix="Name another --target, or remove the rows without one if there is none for them.",
        )
    if not left_out:
        return frame, []
    have = "row has" if left_out == 1 else "rows have"
    return frame, [f"{left_out:,} {have} no {' or '.join(wanted)} (empty, NA, None, infinite): left out."]


def _times(frame: pl.DataFrame, time: str | None, notes: list[str]) -> str | None:
    """The form of times that are text. Raises UsageError if the column has none."""
    import polars as pl

    if time is None:
        return None
    column = frame[time]
    if column.null_count():
        raise UsageError(
            f"--time {time}: {column.null_count():,} rows have none", fix="Fill them in, or remove the rows."
        )
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        return None
    form = schemas.date_form(column) if column.dtype == pl.String else None
    if form is None:
        raise UsageError(
            f"--time {time}: {brief(column.first())} is no time in a known form, or cells differ in form",
            fix="Write them like 2024-12-31 or 2024-12-31 23:59:00.",
        )
    if form.startswith("%m/%d") and schemas.parsed(column, form.replace("%m/%d", "%d/%m")).null_count() == 0:
        notes.append(f"{time} is read as month/day/year; it could be day/month/year.")
    return form


def _split(
    frame: pl.DataFrame, asked: Asked, wanted: Sequence[str], target: Target, form: str | None
) -> tuple[Split, str]:
    size = asked.test_size or TEST_SIZE
    if not 1 <= round(size * frame.height) < frame.height:
        raise UsageError(f"a test part of {size:g} of {frame.height:,} rows leaves one part empty")
    if asked.time is not None:
        column = frame[asked.time] if form is None else schemas.parsed(frame[asked.time], form)
        first = column.sort()[int((1 - size) * frame.height)]
        if first == column.min():
            raise UsageError(f"--time {asked.time}: most rows have the same, {first}", fix="Leave --time out.")
        return Split(
            by="time", column=asked.time, test_size=size
        ), f"asked for by --time; the test part begins at {first}"
    if asked.group is not None:
        column, groups = frame[asked.group], frame[asked.group].n_unique()
        if column.null_count():
            fix = "Fill them in, or remove the rows."
            raise UsageError(f"--group {asked.group}: {column.null_count():,} rows have none", fix=fix)
        if groups < 5 or groups == frame.height:
            what = "each row has its own" if groups == frame.height else f"there are only {groups}"
            raise UsageError(f"--group {asked.group}: {what}", fix="Name a column that several rows share.")
        return Split(by="group", column=asked.group, test_size=size), f"asked for by --group: {groups:,} groups"
    if target.classes and target.task != "multi-label":
        return Split(by="stratified", column=wanted[0], test_size=size), "each class has the same share in both parts"
    return Split(by="random", column=None, test_size=size), "no --group and no --time is named"


def _dropped(frame: pl.DataFrame, kept: Sequence[str], asked: Asked) -> tuple[tuple[str, ...], list[str]]:
    """Columns that say nothing."""
    empty = [name for name in kept if frame[name].null_count() == frame.height]
    counters = [
        name
        for name in kept
        if _COUNTER.match(name) and name != asked.id and frame[name].dtype.is_integer() and frame[name].is_sorted()
    ]
    why = [f"{brief(name)} has no value" for name in empty[:5]]
    why += [f"{brief(name)} numbers the rows in the file's order" for name in counters]
    return (*asked.drop, *empty, *counters), why


def _id(
    frame: pl.DataFrame,
    kept: Sequence[str],
    target: Target,
    wanted: Sequence[str],
    asked: Asked,
    found: tuple[object, str, str] | None,
) -> tuple[str | None, str, dict[str, str]]:
    """The column that names the rows, why, and the columns that could but must not -> why not."""
    if asked.id is not None:
        column = frame[asked.id]
        if column.null_count() or column.n_unique() < column.len():
            repeated = column.len() - column.n_unique()
            what = f"{column.null_count():,} rows have none" if column.null_count() else f"{repeated:,} rows repeat one"
            raise UsageError(f"--id {asked.id}: {what}", fix="Leave --id out: the package then numbers the rows.")
        unique = [asked.id]
    else:
        others = (asked.group, asked.time, found[1] if found else None)
        like = [name for name in kept if name not in others and _ID.search(name) and not frame[name].dtype.is_float()]
        unique = [name for name in like if frame[name].null_count() == 0 and frame[name].n_unique() == frame.height]
    unfit = {name: why for name in unique if (why := _unfit(frame, name, target, wanted))}
    for name in unique:
        if name not in unfit and (found is None or asked.id):
            return name, "asked for by --id" if asked.id else "its name and values, different in every row", unfit
    why = next(iter(unfit.values()), "no column names them")
    return None, f"{why}, so the package numbers the rows", unfit


def _unfit(frame: pl.DataFrame, name: str, target: Target, wanted: Sequence[str]) -> str | None:
    """Why a column cannot name the rows, if it cannot."""
    if name in target.classes:
        return f"{brief(name)} is the name of a class, too"
    for each in wanted:
        if (strength := follows(frame[name].cast(str), frame[each].cast(str))) is not None:
            return f"{brief(name)} follows {brief(each)} (rank correlation {strength:+.2f})"
    return None


def _odd(frame: pl.DataFrame, target: Target, wanted: Sequence[str]) -> list[str]:
    """What a user should know of the columns."""
    import polars as pl

    notes = []
    if target.task in ("multi-class", "ordinal"):
        counts = frame[wanted[0]].value_counts()
        single = counts.filter(pl.col("count") == 1)
        if single.height:
            shown = ", ".join(map(str, single[wanted[0]].head(3).to_list()))
            have = "1 class has" if single.height == 1 else f"{single.height} classes have"
            notes.append(f"{have} one row only, which goes to the training part: {shown}.")
    features = [name for name in frame.columns if name not in wanted]
    empty, distinct = frame.null_count().row(0, named=True), frame.select(pl.all().n_unique()).row(0, named=True)
    same = [name for name in features if empty[name] < frame.height and distinct[name] - (empty[name] > 0) == 1]
    if same:
        notes.append(f"{_some(same)} the same in every row that has a value.")
    mixed = []
    for name in features:
        if frame[name].dtype == pl.String:
            cells = frame[name].drop_nulls().head(_LARGE)
            count = cells.len() - cells.str.strip_chars().cast(pl.Float64, strict=False).null_count()
            if 0.5 * cells.len() < count < cells.len():
                mixed.append(name)
    if mixed:
        notes.append(f"{_some(mixed)} mostly numbers, with text between them.")
    numbers = [name for name in features if frame[name].dtype.is_float()]
    unbounded = frame.select(pl.col(numbers).is_infinite().any()).row(0, named=True) if numbers else {}
    infinite = [name for name, found in unbounded.items() if found]
    if infinite:
        notes.append(f"{_some(infinite)} infinite in some rows.")
    return notes


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(brief, names[:5])) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'}"
