"""Turns rows into numbers: columns of tables, free text as weighted counts of words, images by their colours."""

from __future__ import annotations

import io
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import pandas as pd
from data import Source
from PIL import Image
from problem import NoModel, Problem
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

IMAGES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".gif", ".webp"}
DOCUMENTS = {".txt", ".md"}
BEGINNING = 20_000  # characters of a text file that are read
CATEGORIES = 250  # values of a column that is still a category
LOOKED_AT = 20_000  # images that are enough to learn from
LOOKED = 8 * 8 * (3 + 2) + 3 * 16 + 4  # numbers for an image
ENOUGH = 20  # columns of numbers in a table: its images are not looked at then
TEXTS = 60_000  # rows with text that are enough to learn from
LETTERS = 60_000_000  # characters in all; more than that is counted by words alone


@dataclass(frozen=True)
class Rows:
    """Features of some rows: numbers, NaN where missing, and sparse counts of words (or None)."""

    dense: np.ndarray
    words: sparse.csr_matrix | None = None

    def __len__(self) -> int:
        return len(self.dense)

    def take(self, chosen: np.ndarray) -> Rows:
        return Rows(self.dense[chosen], None if self.words is None else self.words[chosen])


def features(problem: Problem, files: list[Source], seed: int) -> tuple[Rows, Rows, str, np.ndarray]:
    """Features of train and test, what they are made of, and which rows of train they are. Raises NoModel."""
    train, test, keys = problem.train, problem.test, problem.keys
    rows = np.arange(len(train))
    names = [name for name in train.columns if name in test.columns and name not in problem.targets]
    both = with_contents(pd.concat([train[names], test[names]], ignore_index=True), files)
    names = list(both.columns)
    texts = [name for name in names if is_text(both[name])]
    numbers = {name: column(both[name]) for name in names if name not in keys and name not in texts}
    for name in texts:
        numbers[name] = [both[name].fillna("").astype(str).str.len()]
    columns = [np.asarray(part, np.float32) for parts in numbers.values() for part in parts]
    dense = np.column_stack(columns) if columns else np.empty((len(both), 0), np.float32)
    dense[~np.isfinite(dense)] = np.nan
    what = [f"{dense.shape[1]} columns"] if columns else []
    words: tuple[sparse.csr_matrix | None, sparse.csr_matrix | None] = (None, None)
    if texts:
        if len(rows) > TEXTS:
            rows = np.sort(np.random.default_rng(seed).choice(rows, TEXTS, replace=False))
        joined = both[texts].fillna("").astype(str).agg("\n".join, axis=1)
        words = counts(joined.iloc[rows], joined.iloc[len(train) :])
        what.append("text")
    known, asked = dense[: len(train)][rows], dense[len(train) :]
    if not texts and dense.shape[1] < ENOUGH and (named := images(problem, files)):
        try:
            looked, seen, rows = read_images(*named, seed)
        except NoModel:
            if not what:
                raise
        else:
            known, asked = np.hstack([known[rows], looked]), np.hstack([asked, seen])
            what.append("images")
    if not what:
        raise NoModel("nothing about the rows that this agent can read")
    return Rows(known, words[0]), Rows(asked, words[1]), " and ".join(what), rows


def with_contents(table: pd.DataFrame, files: list[Source]) -> pd.DataFrame:
    """The table with texts in the place of their files' names, and without columns that name other files."""
    known = {each.name: each for each in files}
    for name in table.columns if known else ():
        found = [known.get(base) for base in table[name].astype(str).str.rpartition("/")[2]]
        if sum(map(bool, found)) < 0.98 * len(found):
            continue
        if all(PurePosixPath(each.name).suffix.lower() in DOCUMENTS for each in found if each):
            table[name] = [read_text(each) if each else None for each in found]
        else:
            table = table.drop(columns=name)
    return table


def read_text(source: Source) -> str:
    with source.text() as stream:
        return stream.read(BEGINNING)


def is_text(values: pd.Series) -> bool:
    """Free text rather than a name or a code: several words, hardly ever the same."""
    some = values.dropna().astype(str).head(2000)
    return len(some) > 0 and some.str.count(r"[^\W\d]\s").mean() >= 2 and some.nunique() > 0.3 * len(some)


def column(values: pd.Series) -> list[pd.Series]:
    """A column of a table as numbers: itself, the parts of a point in time, or of a code, or a category."""
    if pd.api.types.is_numeric_dtype(values):
        return [values.astype(float)]
    known = values.dropna().astype(str)
    flags = known.str.lower().map({"true": 1.0, "false": 0.0})
    as_numbers = flags if flags.notna().all() else pd.to_numeric(known, errors="coerce")
    if as_numbers.notna().mean() >= 0.98:
        return [as_numbers.reindex(values.index)]
    if known.head(200).str.contains(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}").mean() > 0.95:
        times = pd.to_datetime(values, errors="coerce", utc=True, format="mixed")
        days = (times - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
        return [days, times.dt.year, times.dt.month, times.dt.dayofweek, times.dt.hour + times.dt.minute / 60]
    often = known.value_counts()
    frequency = values.astype(str).map(often).fillna(0)
    if len(often) <= CATEGORIES:
        codes = pd.Series(range(len(often)), often.index, dtype=float)
        single = [(values.astype(str) == value).astype(float) for value in often.index[:30]] if len(often) > 2 else []
        return [frequency, values.astype(str).map(codes), *single]
    parts = known.str.findall(r"[A-Za-z]+|\d+")
    length = int(parts.str.len().median())
    if inner := [parts.str[place].reindex(values.index) for place in range(min(length, 6)) if length > 1]:
        few = [part for part in inner if part.nunique() <= CATEGORIES or part.str.isdigit().mean() > 0.98]
        return [frequency, *(number for part in few for number in column(part))]
    return [frequency]


def counts(train: pd.Series, test: pd.Series) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Weighted counts of words, and of letters in a row (TF-IDF)."""
    options = {
        "min_df": 1 if len(train) < 200 else 2,
        "max_features": 100_000,
        "sublinear_tf": True,
        "dtype": np.float32,
    }
    makers = [TfidfVectorizer(ngram_range=(1, 2), **options)]
    if train.str.len().sum() + test.str.len().sum() < LETTERS:
        makers.append(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), **options))
    known = sparse.hstack([maker.fit_transform(train) for maker in makers], format="csr")
    return known, sparse.hstack([maker.transform(test) for maker in makers], format="csr")


def images(problem: Problem, files: list[Source]) -> tuple[list[Source | None], list[Source | None]] | None:
    """The images of the train and test rows, found by a column that names them."""
    known: dict[str, list[Source]] = {}
    for source in files:
        if PurePosixPath(source.name).suffix.lower() in IMAGES:
            for name in {source.name, PurePosixPath(source.name).stem}:
                known.setdefault(name, []).append(source)

    def find(values: pd.Series, part: str, other: str) -> list[Source | None]:
        """The image of each row; of those with one name, the one in a folder of this part."""

        def unfit(source: Source) -> tuple[bool, bool]:
            return bool(re.search(other, source.place)), not re.search(part, source.place)

        names = values.astype(str).str.rpartition("/")[2]
        return [min(known.get(name, []), key=unfit, default=None) for name in names]

    for name in problem.test.columns if known else ():
        if name in problem.train.columns and not pd.api.types.is_float_dtype(problem.train[name]):
            found = find(problem.train[name], "train", "test"), find(problem.test[name], "test", "train")
            if all(sum(map(bool, part)) >= 0.98 * len(part) for part in found):
                return found
    return None


def read_images(
    train: list[Source | None], test: list[Source | None], seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of train and test rows, and which train rows these are. Raises NoModel if most images are broken."""
    chosen = np.sort(np.random.default_rng(seed).permutation(len(train))[:LOOKED_AT])
    with ThreadPoolExecutor() as pool:
        learned, seen = (np.array(list(pool.map(look, part))) for part in ([train[row] for row in chosen], test))
    if np.isnan(learned).any(axis=1).mean() > 0.5:
        raise NoModel("the images cannot be read")
    return learned, seen, chosen


def look(source: Source | None) -> np.ndarray:
    """An image as numbers: small pictures of its colours and its edges, histograms, its size. NaN if it is broken."""
    try:
        assert source is not None
        with source.open() as stream:
            image = Image.open(io.BytesIO(stream.read()))
        width, height = image.size
        image.draft("RGB", (256, 256))  # JPEG: decoded at a fraction of its size
        colour = np.asarray(image.convert("RGB").resize((64, 64), Image.Resampling.BOX), np.float32) / 255
    except Exception:  # whatever a broken file does to a decoder
        return np.full(LOOKED, np.nan, np.float32)
    edges = np.stack([np.abs(edge) for edge in np.gradient(colour.mean(axis=2))], axis=2)
    small = [part.reshape(8, 8, 8, 8, -1).mean(axis=(1, 3)).ravel() for part in (colour, edges)]
    histograms = [np.histogram(colour[:, :, channel], bins=16, range=(0, 1))[0] / 4096 for channel in range(3)]
    return np.concatenate([*small, *histograms, [colour.std(), width, height, width / height]]).astype(np.float32)
