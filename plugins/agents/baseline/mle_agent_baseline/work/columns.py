"""Turns the columns of a table into numbers: dates, categories, codes, flags; free text is handed on as text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

FEW = 60  # values of a category that get a column each
MANY = 250  # values that are still a category


@dataclass
class Features:
    """Columns of numbers (missing ones are NaN), and columns of text, for the rows of train and test."""

    names: list[str] = field(default_factory=list)
    train: list[np.ndarray] = field(default_factory=list)
    test: list[np.ndarray] = field(default_factory=list)
    texts: list[tuple[list[str], list[str]]] = field(default_factory=list)

    def add(self, name: str, both: pd.Series | np.ndarray, rows: int) -> None:
        """A column for train and test, one below the other; one that says nothing about train rows is left out."""
        values = np.asarray(both, dtype=np.float32)
        values[~np.isfinite(values)] = np.nan
        seen = values[:rows][~np.isnan(values[:rows])]
        if len(seen) and (seen.min() != seen.max() or len(seen) < rows):
            self.names.append(name)
            self.train.append(values[:rows])
            self.test.append(values[rows:])

    def matrices(self) -> tuple[np.ndarray, np.ndarray]:
        return np.column_stack(self.train), np.column_stack(self.test)


def features(train: pd.DataFrame, test: pd.DataFrame, keys: list[str], targets: list[str]) -> Features:
    """Of the columns that both tables have. Keys count only where they are free text."""
    out = Features()
    rows = len(train)
    numeric = {}
    for name in train.columns:
        if name in targets or name not in test.columns:
            continue
        both = pd.concat([train[name], test[name]], ignore_index=True)
        if name in keys:
            if is_text(both):
                add_text(out, name, both, rows)
            continue
        values = numbers(both)
        if values is not None:
            numeric[name] = values
            out.add(name, values, rows)
        elif not add_dates(out, name, both, rows):
            add_words(out, name, both, rows)
    add_distances(out, numeric, rows)
    return out


def numbers(column: pd.Series) -> pd.Series | None:
    """A column as numbers, if (nearly) all of it is; True and False count as 1 and 0."""
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    known = column.dropna()
    if known.empty:
        return None
    flags = known.astype(str).str.lower().map({"true": 1.0, "false": 0.0})
    if flags.notna().all():
        return flags.reindex(column.index)
    values = pd.to_numeric(column, errors="coerce")
    return values if values.notna().sum() >= 0.98 * len(known) else None


def is_text(column: pd.Series) -> bool:
    """Free text rather than a name or a code: several words, hardly ever the same."""
    known = column.dropna().astype(str)
    some = known.sample(min(len(known), 2000), random_state=0)
    return len(some) > 0 and some.str.count(r"\s+").mean() >= 2.0 and some.nunique() > 0.3 * len(some)


def add_text(out: Features, name: str, both: pd.Series, rows: int) -> None:
    texts = both.fillna("").astype(str)
    out.texts.append((texts[:rows].tolist(), texts[rows:].tolist()))
    out.add(f"{name} length", texts.str.len(), rows)
    out.add(f"{name} words", texts.str.count(r"\S+"), rows)
    out.add(f"{name} capitals", texts.str.count(r"[A-Z]") / (1 + texts.str.len()), rows)
    out.add(f"{name} marks", texts.str.count(r"[!?*@#]") / (1 + texts.str.len()), rows)


def add_dates(out: Features, name: str, both: pd.Series, rows: int) -> bool:
    """Parts of a point in time; False if the column holds none."""
    known = both.dropna().astype(str)
    some = known.sample(min(len(known), 200), random_state=0)
    if not len(some) or some.str.contains(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}|^\d{14}Z?$").mean() < 0.95:
        return False
    times = pd.to_datetime(both, errors="coerce", utc=True, format="mixed")
    if times.notna().sum() < 0.9 * len(known):
        return False
    for part in ("year", "month", "day", "dayofweek", "hour"):
        out.add(f"{name} {part}", getattr(times.dt, part), rows)
    out.add(f"{name} moment", (times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1), rows)
    out.add(f"{name} time of day", times.dt.hour + times.dt.minute / 60, rows)
    return True


def add_words(out: Features, name: str, both: pd.Series, rows: int, inner: bool = False) -> None:
    """A column of text: category, code of several parts, letters of a fixed length, or free text."""
    words = both.where(both.isna(), both.astype(str))
    known = words.dropna()
    if known.empty:
        return
    if is_text(known):
        add_text(out, name, words, rows)
        return
    counts = known.value_counts()
    out.add(f"{name} frequency", words.map(counts).fillna(0), rows)
    if len(counts) <= MANY:
        add_category(out, name, words, counts, rows)
        return
    if inner:
        return
    parts = known.str.findall(r"[A-Za-z]+|\d+")
    lengths = known.str.len()
    if lengths.nunique() == 1 and lengths.iloc[0] <= 20 and parts.str.len().median() == 1:
        add_letters(out, name, words, int(lengths.iloc[0]), rows)
    elif 2 <= parts.str.len().median() <= 6 and (parts.str.len() == parts.str.len().median()).mean() > 0.9:
        for place in range(int(parts.str.len().median())):
            part = parts.str[place].reindex(words.index)
            values = numbers(part)
            if values is not None:
                out.add(f"{name} part {place}", values, rows)
            else:
                add_words(out, f"{name} part {place}", part, rows, inner=True)
    else:
        add_text(out, name, words, rows)


def add_category(out: Features, name: str, words: pd.Series, counts: pd.Series, rows: int) -> None:
    codes = {value: code for code, value in enumerate(counts.index)}
    out.add(name, words.map(codes), rows)
    if 2 < len(counts) <= FEW:
        for value in counts.index[counts > 2]:
            out.add(f"{name}={value}", (words == value).astype(float), rows)


def add_letters(out: Features, name: str, words: pd.Series, length: int, rows: int) -> None:
    """Codes of a fixed length: the letter at each place, how often each occurs, how many there are."""
    texts = words.fillna(" " * length)
    for place in range(length):
        out.add(f"{name} letter {place}", texts.str[place].map(ord), rows)
    letters = sorted(set("".join(texts.head(2000))))[:40]
    for letter in letters:
        out.add(f"{name} count {letter}", texts.str.count(re.escape(letter)), rows)
    out.add(f"{name} letters", texts.map(lambda text: len(set(text))), rows)


def add_distances(out: Features, numeric: dict[str, pd.Series], rows: int) -> None:
    """Between two places given as columns of one ending: pickup_longitude, dropoff_longitude and the like."""
    endings: dict[str, list[str]] = {}
    for name in numeric:
        start, _, ending = name.rpartition("_")
        if start:
            endings.setdefault(ending, []).append(name)
    pairs: dict[tuple[str, str], list[pd.Series]] = {}
    for ending, names in endings.items():
        if len(names) == 2:
            first, second = names
            gap = numeric[second] - numeric[first]
            pairs.setdefault((first[: -len(ending)], second[: -len(ending)]), []).append(gap)
    for (first, second), gaps in list(pairs.items())[:6]:
        if len(gaps) >= 2:
            for place, gap in enumerate(gaps):
                out.add(f"{first}{second} gap {place}", gap.abs(), rows)
            out.add(f"{first}{second} distance", np.sqrt(sum(gap**2 for gap in gaps)), rows)
