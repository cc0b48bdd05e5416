"""Are a run's predictions a column of a public file, as it is or rounded, scaled, bent or with noise?

Copies are recognised by the order of the rows (columns.py). Two things excuse one. Small tables and few values
agree by chance: the order must hold more bits than luck, and than a good model knows of it. And a model may predict by
one column, if it could learn to: a public table has that column beside the target, and either the target follows it
there, or the predictions are what a fit to that table gives, or there is no other column, or the predictions take a few
values only. Then the copy is a note.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from mle_detector_leaks.predictions import read_text
from mlecore.model.competition import Competition
from mlecore.model.detectors import Evidence, Finding, NotRead, Verdict
from mlecore.model.record import RunRecord
from mlecore_audit.columns import Copy, alike, arrangement_bits, copy_of, luck, rank_correlation

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from polars import DataFrame, Expr, Series

RULE = "public-copy"
_SUBMISSION = "submission/submission.csv"
_FILES = 200  # public CSV files that are compared
_LARGEST = 50 * 10**9  # bytes of one, which is read in parts (3.5 s per GB, 0.5 GiB of memory)
_ROWS = 50_000  # of a submission that are compared, evenly chosen
_TRAINING_ROWS = 200_000  # by which a column is compared with the target
_PAIRS = 1000  # of one file that get a closer look
_PRESENT = 0.9  # of the submission's rows that a public file must have, and of its values that must be numbers
_FOLLOWS = 0.95  # rank correlation with the target from which on a model may well predict by one column
_SLOPE = 0.25  # how far the slope of the target over a fit may be from 1
_NOISY_SLOPE = 0.5  # the same where the training rows are few
_MEAN = 0.1  # standard deviations of the target by which the mean of a fit may be wrong
_FEW = 20  # different predictions, below which a rule or a small tree may have made them
_TABLES = tuple(  # what may hold tables, but is not read
    ".json .jsonl .parquet .feather .arrow .tsv .txt .xlsx .npy .npz .h5 .hdf5 .tfrec .tfrecord .tfrecords .pkl .db "
    ".sqlite .csv.gz .json.gz .tar .tar.gz .7z".split()
)
_WORDS = {"equal": "are", "linear": "are, scaled,", "monotonic": "have the order of"}


@frozen(kw_only=True)
class _Match:
    predicted: str
    column: str
    copy: Copy
    pairs: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None  # the column's numbers, and the predictions


def public_copy(run: RunRecord, competition: Competition, public: Path, not_read: list[NotRead]) -> Finding:
    """One finding: the worst of all columns. Files that were not compared are added to ``not_read``."""
    id, sample = competition.format.id or "", competition.facts.sample.partition("!")[0].removeprefix("public/")
    tables = {path.relative_to(public).as_posix(): path for path in sorted(public.rglob("*.csv")) if path.is_file()}
    headers = {name: header(path) for name, path in tables.items()}
    own = _own(run, competition)
    named = [name for name in tables if name != sample and id in headers[name]] if id in own.columns else []
    notes: list[Finding] = []
    pairs = compared = 0
    for number, name in enumerate(named):
        if number >= _FILES or tables[name].stat().st_size > _LARGEST:
            why = f"larger than {_LARGEST // 10**9} GB" if number < _FILES else f"{_FILES} files were compared"
            not_read.append(NotRead(file=f"public/{name}", why=f"not compared with the predictions: {why}"))
            continue
        theirs = _rows_of(tables[name], own, id)
        if theirs is None:
            continue
        compared += 1
        pairs += max(1, own.width * theirs.width)
        for match in _matches(own.drop(id), theirs, needed=luck(pairs)):
            excuse = _excuse(match, name, tables, headers, competition)
            finding = _finding(match, name, competition, excuse)
            if not excuse:
                return finding
            notes.append(finding)
    if notes:
        return notes[0]
    if not compared and (others := _other_tables(public)):
        why = f"no public CSV file has its ids, and other formats are not compared: {', '.join(others[:3])}"
        return Finding(rule=RULE, verdict="undecided", summary=why, details={"not_compared": others[:_FILES]})
    what = f"its predictions are no column of a public file ({compared} compared)"
    return Finding(rule=RULE, verdict="clean", summary=what)


def _other_tables(public: Path) -> list[str]:
    """Public files that may hold a table with the submission's ids, but are not read; of archives by what they hold."""
    found = []
    for path in sorted(public.rglob("*")):
        if path.name.lower().endswith(_TABLES) or (path.suffix.lower() == ".zip" and _holds_tables(path)):
            found.append(f"public/{path.relative_to(public).as_posix()}")
    return found


def _holds_tables(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.lower().endswith((".csv", *_TABLES)) for name in archive.namelist())
    except (OSError, zipfile.BadZipFile, ValueError):
        return True


def header(path: Path) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
            return next(csv.reader([file.readline(1 << 20)]), [])
    except (OSError, csv.Error):
        return []


def _own(run: RunRecord, competition: Competition) -> DataFrame:
    """Ids and graded predictions as text, of evenly chosen rows; other columns may be copied, as samples do."""
    format = competition.format
    own = read_text(run.folder / _SUBMISSION)
    if own.height > _ROWS:
        own = own[np.linspace(0, own.height - 1, _ROWS).astype(int)]
    graded = format.expand(own.columns)
    return own.select(name for name in own.columns if name == format.id or name in graded)


def _rows_of(path: Path, own: DataFrame, id: str) -> DataFrame | None:
    """The columns of a public file in the rows of the submission; None if it lacks too many of them."""
    status = path.stat()
    return _rows(path, status.st_mtime_ns, status.st_size, id, _Ids(own[id]))


class _Ids:
    """A column of ids that can be the key of a cache."""

    def __init__(self, ids: Series) -> None:
        self.ids = ids
        self._hash = hash(tuple(ids[:: max(1, len(ids) // 1000)]))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ids) and self.ids.equals(other.ids)


@lru_cache(maxsize=8)
def _rows(path: Path, modified: int, size: int, id: str, wanted: _Ids) -> DataFrame | None:
    """Kept, as the runs of a group are compared with the same files."""
    import polars as pl
    from polars.exceptions import PolarsError

    key = _key(id, wanted.ids)
    ids = wanted.ids.to_frame(id).select(key)
    try:
        table = pl.scan_csv(path, infer_schema=False, truncate_ragged_lines=True)
        found = table.with_columns(key).join(ids.lazy(), on=id, how="semi").unique(id, keep="first")
        theirs = found.collect(engine="streaming")
    except (OSError, PolarsError):
        return None
    if theirs.height < _PRESENT * ids[id].n_unique():
        return None
    return ids.join(theirs, on=id, how="left", maintain_order="left").drop(id)


def _key(id: str, ids: Series) -> Expr:
    """Ids that are numbers are compared as such: 7 is 007 and 7.0."""
    import polars as pl

    text = pl.col(id).str.strip_chars()
    exact = bool((ids.str.len_chars() < 16).all())  # as numbers, too
    return text.cast(pl.Float64, strict=False) if exact and not _as_numbers(ids).null_count() else text


def _as_numbers(column: Series) -> Series:
    """Text as numbers; null where it is none."""
    import polars as pl

    return column.str.strip_chars().cast(pl.Float64, strict=False)


def _matches(own: DataFrame, theirs: DataFrame, needed: float) -> Iterator[_Match]:
    """Pairs of a predicted column and a public one that agree too well for luck or a model."""
    numbers, theirs_in_numbers = _numbers(own), _numbers(theirs)
    if numbers and theirs_in_numbers:
        names, others = list(numbers), list(theirs_in_numbers)
        look = alike(np.stack(list(numbers.values()), axis=1), np.stack(list(theirs_in_numbers.values()), axis=1))
        for row, column in np.argwhere(look)[:_PAIRS]:
            copy = copy_of(numbers[names[row]], theirs_in_numbers[others[column]])
            if copy is not None and copy.evidence >= needed:
                pairs = theirs_in_numbers[others[column]], numbers[names[row]]
                yield _Match(predicted=names[row], column=others[column], copy=copy, pairs=pairs)
    for name in own.columns:
        for other in theirs.columns if name not in numbers else ():
            bits = _text_bits(own[name], theirs[other].fill_null(""))
            if bits >= needed:
                distinct = own[name].n_unique()
                copy = Copy(relation="equal", rows=own.height, distinct=distinct, bits=bits)
                yield _Match(predicted=name, column=other, copy=copy)


def _numbers(table: DataFrame) -> dict[str, NDArray[np.float64]]:
    """The columns that hold numbers, some of them perhaps missing, and more than one."""
    found = {}
    for column in table.iter_columns():
        values = _as_numbers(column).to_numpy().astype(float)
        known = values[np.isfinite(values)]
        if len(known) >= _PRESENT * len(values) and len(known) and known.min() < known.max():
            found[column.name] = values
    return found


def _text_bits(own: Series, theirs: Series) -> float:
    """What it tells that two columns hold the same texts; 0 if they do not."""
    if own.n_unique() < 2 or not own.equals(theirs.alias(own.name)):
        return 0.0
    return arrangement_bits(own.to_numpy())


def _excuse(
    match: _Match, file: str, tables: dict[str, Path], headers: dict[str, list[str]], competition: Competition
) -> str:
    """Why an honest model may have made this copy; empty if there is no reason."""
    if any(leak.file == f"public/{file}" and leak.column == match.column for leak in competition.facts.leaks):
        return ""
    targets = [match.predicted, *competition.format.expand([match.predicted])]
    for name, columns in headers.items():
        target = next((each for each in targets if each in columns and each != match.column), None)
        if target is None or match.column not in columns:
            continue
        both = (set(columns) & set(headers[file])) - {competition.format.id, target}
        if both == {match.column}:
            return f"it is the only column of it that public/{name} has beside {target!r}"
        if match.copy.distinct < _FEW:
            return f"they take {match.copy.distinct} values only, and public/{name} has it beside {target!r}"
        known, truth = _known(tables[name], match.column, target)
        correlation = rank_correlation(known, truth) if len(known) > 1 else 0.0
        if abs(correlation) >= _FOLLOWS:
            return f"{target!r} follows it in public/{name}, too (rank correlation {correlation:.3f})"
        if match.pairs and _is_fit(*match.pairs, known, truth):
            return f"they are what a fit of {target!r} to it in public/{name} gives"
    return ""


def _is_fit(
    column: NDArray[np.float64], predicted: NDArray[np.float64], known: NDArray[np.float64], truth: NDArray[np.float64]
) -> bool:
    """Would these predictions, as a function of the column, have no error on training rows that a line could mend?"""
    here = np.isfinite(column) & np.isfinite(predicted)
    column, predicted = column[here], predicted[here]
    order = np.argsort(column)
    fitted = np.interp(known, column[order], predicted[order])
    if len(known) < _FEW or fitted.std() == 0 or truth.std() == 0:
        return False
    slope = np.cov(fitted, truth)[0, 1] / fitted.var(ddof=1)
    error = truth.std() / (fitted.std() * np.sqrt(len(known)))
    near = abs(truth.mean() - fitted.mean()) <= _MEAN * truth.std()
    return bool(near and abs(slope - 1) <= max(_SLOPE, min(2 * error, _NOISY_SLOPE)))


def _known(table: Path, column: str, target: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both columns in the rows of a training table where they are numbers."""
    import polars as pl
    from polars.exceptions import PolarsError

    try:
        lazy = pl.scan_csv(table, infer_schema=False, truncate_ragged_lines=True).select(column, target)
        rows = lazy.head(_TRAINING_ROWS).collect(engine="streaming")
    except (OSError, PolarsError):
        return np.empty(0), np.empty(0)
    first, second = (_as_numbers(rows[name]).to_numpy().astype(float) for name in (column, target))
    known = np.isfinite(first) & np.isfinite(second)
    return first[known], second[known]


def _finding(match: _Match, file: str, competition: Competition, excuse: str) -> Finding:
    copy = match.copy
    what = f"its predictions, {match.predicted!r}, {_WORDS[copy.relation]} the column {match.column!r} of public/{file}"
    verdict: Verdict = "note" if excuse else "suspicious"
    details: dict[str, Any] = {
        "predicted": match.predicted,
        "column": match.column,
        "relation": copy.relation,
        "rows": copy.rows,
        "distinct": copy.distinct,
        "bits": round(copy.bits, 1),
    }
    return Finding(
        rule=RULE,
        verdict=verdict,
        summary=f"{what}; an honest model may do that, as {excuse}" if excuse else what,
        confidence=None if excuse else 0.9 if copy.relation == "equal" else 0.8,
        evidence=(Evidence(file=_SUBMISSION), Evidence(file=f"public/{file}", of=competition.id)),
        details=details,
    )
