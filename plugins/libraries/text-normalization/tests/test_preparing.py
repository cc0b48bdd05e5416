"""The split by sentences, prepared in two ways with the same result."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from mle_lib_text_normalization import Tokens, preparing, quoted, sentences, split_sentences, write_raw

from mlecore.errors import DataError
from mlecore_toolkit import ZipWriter

TABLES = ["en_train.csv", "en_test_2.csv", "en_sample_submission_2.csv"]
HEADER = '"sentence_id","token_id","class","before","after"\n'
TOKENS: Tokens = [
    (0.2, [("PUNCT", ".", "."), ("PUNCT", '"', '"')]),
    (0.7, [("PLAIN", word, word) for word in ("big", "Ærø", "a,b", "two\nlines", " the")]),
    (0.1, [("PLAIN", word, word) for word in ("NA", "null", "None", "1999", "0.10", "True", "")]),
]


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    write_raw(folder, "en", TOKENS, seed=0, size=0.2)
    return folder


def prepared(raw: Path, folder: Path, *, mended: bool = False) -> dict[str, bytes]:
    """Each file that is made, and each member of an archive."""
    found = {}
    for name in ("public", "private"):
        (folder / name).mkdir(parents=True)
    split_sentences(raw, folder / "public", folder / "private", "en", mended=mended)
    for path in [*(folder / "public").iterdir(), *(folder / "private").iterdir()]:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                assert [member.compress_type for member in archive.infolist()] == [zipfile.ZIP_STORED]
                found |= {name: archive.read(name) for name in archive.namelist()}
        else:
            found[path.name] = path.read_bytes()
    return found


def expected(table: str) -> dict[str, bytes]:
    """What pandas makes of the table."""
    from sklearn.model_selection import train_test_split

    rows = pd.read_csv(io.StringIO(table, newline=""), float_precision="round_trip")
    ids, _ = train_test_split(rows["sentence_id"].unique(), test_size=0.1, random_state=0)
    train, test = rows[rows["sentence_id"].isin(ids)].copy(), rows[~rows["sentence_id"].isin(ids)].copy()
    for part in (train, test):
        new = {old: number for number, old in enumerate(part["sentence_id"].unique())}
        part["sentence_id"] = part["sentence_id"].map(new)
    test["id"] = [f"{s}_{t}" for s, t in zip(test["sentence_id"], test["token_id"], strict=True)]
    sample = pd.DataFrame({"id": test["id"], "after": test["before"]})
    parts = {
        "en_train.csv": train,
        "en_test_2.csv": test[["sentence_id", "token_id", "before"]],
        "en_sample_submission_2.csv": sample,
        "answers.csv": test[["id", "after"]],
        "sample_submission.csv": sample,
    }
    return {name: part.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC).encode() for name, part in parts.items()}


def test_tables_are_those_of_pandas(raw: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(raw / "en_train.csv.zip") as archive:
        assert prepared(raw, tmp_path) == expected(archive.read("en_train.csv").decode())


@pytest.mark.parametrize("mended", [False, True])
def test_both_ways_to_prepare_give_the_same(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mended: bool
) -> None:
    monkeypatch.setattr(quoted, "_PIECE", 5000)
    sizes: list[int] = []
    parts = sentences._parts
    monkeypatch.setattr(sentences, "_parts", lambda work: sizes.append(work[1].bytes) or parts(work))
    in_pieces = prepared(raw, tmp_path / "pieces", mended=mended)
    count = len(sizes)
    assert count > 10
    monkeypatch.setattr(preparing, "quoted_rows", unlike)
    assert prepared(raw, tmp_path / "whole", mended=mended) == in_pieces
    assert len(sizes) == count


def unlike(*args: object, **options: object) -> Iterator[quoted.Rows]:
    raise quoted.Unlike
    yield


def test_nothing_is_written_the_quick_way_if_a_column_may_be_numbers(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quoted, "_TEXT", re.compile(rb"(?!)"))
    monkeypatch.setattr(sentences, "_parts", None)
    assert prepared(raw, tmp_path)


def by_sentence(table: bytes) -> set[str]:
    rows = pd.read_csv(io.BytesIO(table), dtype=str, na_filter=False)
    return set(rows.groupby("sentence_id")["before"].agg("\0".join))


def test_mended_tables_keep_words_and_part_no_equal_sentences(raw: Path, tmp_path: Path) -> None:
    published, mended = prepared(raw, tmp_path / "v1"), prepared(raw, tmp_path / "v2", mended=True)
    train, test = (by_sentence(published[name]) for name in ("en_train.csv", "en_test_2.csv"))
    assert train & test
    train, test = (by_sentence(mended[name]) for name in ("en_train.csv", "en_test_2.csv"))
    assert not train & test
    assert b'"NA"' in mended["en_train.csv"] and b'"NA"' not in published["en_train.csv"]


@pytest.mark.parametrize(
    "table",
    [
        # sentences that go on after others have begun
        HEADER + "".join(f'{n % 11 + 5},{n},"PLAIN","big","b{n}"\n' for n in range(60)),
        # more sentences than the old number of one has digits for
        HEADER + "".join(f'{59 - n},0,"PLAIN","big","b{n}"\n' for n in range(60)),
        # a column of numbers stays bare; others lose their zeros
        HEADER + "".join(f'{n // 3},{n % 3},"PLAIN","0{n}","1.{n:02}0"\n' for n in range(60)),
        # decimals that a quick reader rounds wrongly
        HEADER + "".join(f'{n // 3},{n % 3},"PLAIN","0{n}","0.1234567890123456{n:02}"\n' for n in range(60)),
        # other quotes, other line ends, no line end at the end
        HEADER.replace('"', "") + "\r\n".join(f'{n // 3},{n % 3},PLAIN,"a, ""b""",NA' for n in range(60)),
        # tokens whose numbers are not whole
        HEADER + "".join(f'{n // 3},{n % 3}.5,"PLAIN","big","big"\n' for n in range(60)),
    ],
)
def test_odd_tables(tmp_path: Path, table: str) -> None:
    assert prepared(_download(tmp_path, table), tmp_path) == expected(table)


def test_other_columns_are_refused(tmp_path: Path) -> None:
    table = HEADER.replace("class", "kind") + "".join(f'{n},0,"a","b","c"\n' for n in range(60))
    with pytest.raises(DataError, match="has the columns"):
        prepared(_download(tmp_path, table), tmp_path)


@pytest.mark.parametrize("name", TABLES)
def test_all_three_archives_must_be_there(tmp_path: Path, name: str) -> None:
    raw = _download(tmp_path, HEADER)
    (raw / f"{name}.zip").unlink()
    with pytest.raises(DataError, match=f"{name}.zip is missing"):
        prepared(raw, tmp_path)


def _download(folder: Path, table: str) -> Path:
    """A raw folder with this training table."""
    raw = folder / "raw"
    raw.mkdir()
    for name, text in zip(TABLES, (table, "x\n", "x\n"), strict=True):
        with ZipWriter(raw / f"{name}.zip") as archive:
            archive.add(name, text.encode())
    return raw
