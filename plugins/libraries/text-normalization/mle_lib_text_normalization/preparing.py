"""Rows split by sentence, written as tables of tokens."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mle_lib_text_normalization.names import Names
from mle_lib_text_normalization.quoted import Unlike, quoted_rows
from mle_lib_text_normalization.sentences import sentences_for_testing, write_pieces
from mlecore_toolkit import ZipWriter, ensure_columns, members, read_csv, renumber, split_groups, write_csv

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ["sentence_id", "token_id", "class", "before", "after"]


def split_sentences(raw: Path, public: Path, private: Path, language: str, *, mended: bool = False) -> None:
    """``prepare`` of a language, "en" or "ru". Raises DataError if one of its three archives is missing.

    ``mended``: tokens are text as written, and sentences of equal tokens are on one side of the split.
    """
    names = Names(language)
    for unused in (names.test, names.sample):
        members(raw / f"{unused}.zip")  # never read, but they must be there
    with (
        _stored(public, names.train) as train,
        _stored(public, names.test) as test,
        (private / "answers.csv").open("xb") as answers,
        (private / "sample_submission.csv").open("xb") as sample,
    ):
        try:
            rows = quoted_rows(raw / f"{names.train}.zip", names.train, COLUMNS, verbatim=mended)
            write_pieces(rows, COLUMNS, train, test, answers, sample, private, together=mended)
        except Unlike:
            known, asked = _split_whole(raw, names.train, mended)
            _write_whole(known, asked, train, test, answers, sample)
    with ZipWriter(public / f"{names.sample}.zip", stored=True) as archive:
        archive.add_file(names.sample, private / "sample_submission.csv")


def _split_whole(raw: Path, name: str, mended: bool) -> tuple[DataFrame, DataFrame]:
    """Any rows as pandas reads them: (train, test)."""
    as_written: dict[str, Any] = {"dtype": dict.fromkeys(COLUMNS[2:], str), "na_filter": False} if mended else {}
    rows = read_csv(raw / f"{name}.zip", member=name, **as_written)
    ensure_columns(rows, COLUMNS, name)
    if not mended:
        return split_groups(rows, "sentence_id", test_size=0.1)
    tokens = rows["before"].groupby(rows["sentence_id"], sort=False).agg("\0".join)
    asked = tokens.index[sentences_for_testing(len(tokens), tokens.to_numpy())]
    in_test = rows["sentence_id"].isin(asked)
    return rows[~in_test], rows[in_test]


def _write_whole(
    known: DataFrame, asked: DataFrame, train: IO[bytes], test: IO[bytes], answers: IO[bytes], sample: IO[bytes]
) -> None:
    """The tables as pandas writes them."""
    write = partial(write_csv, quoting=csv.QUOTE_NONNUMERIC)
    known, asked = (part.assign(sentence_id=renumber(part["sentence_id"])) for part in (known, asked))
    write(known, train)
    write(asked[["sentence_id", "token_id", "before"]], test)
    asked["id"] = asked["sentence_id"].astype(str) + "_" + asked["token_id"].astype(str)
    write(asked[["id", "after"]], answers)
    write(asked[["id", "before"]].rename(columns={"before": "after"}), sample)


@contextmanager
def _stored(public: Path, name: str) -> Iterator[IO[bytes]]:
    """A file alone in an archive, to be written to."""
    with ZipWriter(public / f"{name}.zip", stored=True) as archive, archive.open(name) as file:
        yield file
