"""Text Normalization Challenge, English: its split by sentences, its two ways to prepare, and what its grader takes."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import mlecore
from mlecore.errors import DataError
from mlecore.prepare import ZipWriter, quoted, sentences
from mlecore.testing import Trial, check_competition

ENGLISH = mlecore.competition("text-normalization-challenge-english-language")
TABLES = ["en_train.csv", "en_test_2.csv", "en_sample_submission_2.csv"]
HEADER = '"sentence_id","token_id","class","before","after"\n'


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return Trial("text-normalization-challenge-english-language", tmp_path_factory.mktemp("english"), size=0.2)


@pytest.fixture(scope="module")
def answers(trial: Trial) -> pd.DataFrame:
    return pd.read_csv(trial.private / "answers.csv", keep_default_na=False)


def prepared(folder: Path, table: str) -> dict[str, bytes]:
    """What becomes of a training table: each file, and each member of an archive."""
    (folder / "raw").mkdir(parents=True)
    for name, text in zip(TABLES, (table, "x\n", "x\n"), strict=True):
        with ZipWriter(folder / "raw" / f"{name}.zip") as archive:
            archive.add(name, text.encode())
    ENGLISH.prepare(folder / "raw", folder / "public", folder / "private")
    return files(folder)


def files(folder: Path) -> dict[str, bytes]:
    found = {}
    for path in [*(folder / "public").iterdir(), *(folder / "private").iterdir()]:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                assert [member.compress_type for member in archive.infolist()] == [zipfile.ZIP_STORED]
                found |= {name: archive.read(name) for name in archive.namelist()}
        elif path.name != "description.md":
            found[path.name] = path.read_bytes()
    return found


def expected(table: str) -> dict[str, bytes]:
    """The sheet, taken literally."""
    from sklearn.model_selection import train_test_split

    rows = pd.read_csv(io.StringIO(table, newline=""))
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
    return {
        name: part.to_csv(index=False, quotechar='"', quoting=csv.QUOTE_NONNUMERIC).encode()
        for name, part in parts.items()
    }


def test_tables_are_those_of_the_sheet(trial: Trial) -> None:
    with zipfile.ZipFile(trial.raw / "en_train.csv.zip") as archive:
        assert files(trial.folder) == expected(archive.read("en_train.csv").decode())


def test_both_ways_to_prepare_give_the_same(trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoted, "_PIECE", 5000)
    sizes: list[int] = []
    parts = sentences._parts
    monkeypatch.setattr(sentences, "_parts", lambda work: sizes.append(work[1].bytes) or parts(work))
    ENGLISH.prepare(trial.raw, tmp_path / "pieces" / "public", tmp_path / "pieces" / "private")
    count = len(sizes)
    assert count > 10
    monkeypatch.setattr(quoted, "_TEXT", re.compile(rb"(?!)"))  # nothing is certain to be text
    ENGLISH.prepare(trial.raw, tmp_path / "whole" / "public", tmp_path / "whole" / "private")
    assert len(sizes) == count
    assert files(tmp_path / "whole") == files(tmp_path / "pieces") == files(trial.folder)


@pytest.mark.parametrize(
    "table",
    [
        # sentences that go on after others have begun
        HEADER + "".join(f'{n % 11 + 5},{n},"PLAIN","big","b{n}"\n' for n in range(60)),
        # more sentences than the old number of one has digits for
        HEADER + "".join(f'{59 - n},0,"PLAIN","big","b{n}"\n' for n in range(60)),
        # a column of numbers stays bare; others lose their zeros
        HEADER + "".join(f'{n // 3},{n % 3},"PLAIN","0{n}","1.{n}0"\n' for n in range(60)),
        # other quotes, other line ends, no line end at the end
        HEADER.replace('"', "") + "\r\n".join(f'{n // 3},{n % 3},PLAIN,"a, ""b""",NA' for n in range(60)),
        # places that are no whole numbers
        HEADER + "".join(f'{n // 3},{n % 3}.5,"PLAIN","big","big"\n' for n in range(60)),
    ],
)
def test_odd_tables(tmp_path: Path, table: str) -> None:
    assert prepared(tmp_path, table) == expected(table)


def test_other_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has the columns"):
        prepared(tmp_path, HEADER.replace("class", "kind") + "".join(f'{n},0,"a","b","c"\n' for n in range(60)))


@pytest.mark.parametrize("name", TABLES)
def test_all_three_archives_must_be_there(trial: Trial, tmp_path: Path, name: str) -> None:
    (tmp_path / "raw").mkdir()
    for path in (trial.raw).iterdir():
        if path.name != f"{name}.zip":
            (tmp_path / "raw" / path.name).hardlink_to(path)
    with pytest.raises(DataError, match=f"{name}.zip is missing"):
        ENGLISH.prepare(tmp_path / "raw", tmp_path / "public", tmp_path / "private")


def test_scores(trial: Trial, answers: pd.DataFrame) -> None:
    assert trial.grade(answers) == 1
    shuffled = answers.sample(frac=1, random_state=1)[["after", "id"]].assign(note="x")
    assert trial.grade(shuffled) == 1
    wrong = answers.assign(after=[text + "x" if place < 7 else text for place, text in enumerate(answers["after"])])
    assert trial.grade(wrong) == pytest.approx(1 - 7 / len(answers), abs=1e-12)
    sample = pd.read_csv(trial.private / "sample_submission.csv", keep_default_na=False)
    kept = (sample["after"] == answers["after"]).mean()
    assert trial.grade(sample) == pytest.approx(kept, abs=1e-12) and 0.7 < kept < 0.95


def test_words_for_missing_values_match_blanks(trial: Trial, answers: pd.DataFrame) -> None:
    blank = answers["after"] == ""
    assert blank.sum() > 2
    for word in ("NA", "null", "None", "#N/A N/A", "-1.#IND"):
        assert trial.grade(answers.assign(after=answers["after"].where(~blank, word))) == 1
    for word in ("NAN", "missing", " NA"):
        score = trial.grade(answers.assign(after=answers["after"].where(~blank, word)))
        assert score == pytest.approx(1 - blank.mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["1999"], "1999"),
        (["007"], "7"),
        (["007", "x"], "007"),  # one word, and all stay as they are
        (["0.10"], "0.1"),
        (["007", ""], "7.0"),
        (["TRUE", ""], "True"),
        (["true", "x"], "true"),
        (["Infinity"], "inf"),
    ],
)
def test_a_column_without_words_is_compared_as_it_is_read(
    trial: Trial, answers: pd.DataFrame, tmp_path: Path, cells: list[str], wanted: str
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    truth = answers.assign(after=["big", *[wanted] * (len(answers) - 1)])
    truth.to_csv(private / "answers.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    path = tmp_path / "submission.csv"
    answers.assign(after=[*cells[1:], *[cells[0]] * (len(answers) - len(cells) + 1)]).to_csv(path, index=False)
    first = (len(answers) - 1) / len(answers)
    assert ENGLISH.check(path, trial.public) == []
    assert ENGLISH.grade(path, private) == pytest.approx(first, abs=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.iloc[1:],
        lambda table: pd.concat([table, table.iloc[:1]]),
        lambda table: table.assign(id=["99_99", *table["id"].iloc[1:]]),
        lambda table: table.assign(id=[table["id"].iloc[1], *table["id"].iloc[1:]]),
        lambda table: table.assign(id=[None, *table["id"].iloc[1:]]),
        lambda table: table.assign(id=table["id"].str.replace("_", ".")),  # numbers
        lambda table: table.drop(columns="id"),
        lambda table: table.drop(columns="after"),
    ],
)
def test_rows_are_those_of_the_sample(trial: Trial, answers: pd.DataFrame, change: object) -> None:
    with pytest.raises(mlecore.InvalidSubmission):
        trial.grade(change(answers))


def test_synthetic_data_repeats_itself_and_has_the_odd_tokens(trial: Trial, tmp_path: Path) -> None:
    ENGLISH.make_raw(tmp_path, size=0.2)
    for file in sorted(tmp_path.iterdir()):
        assert file.read_bytes() == (trial.raw / file.name).read_bytes()
    rows = pd.read_csv(tmp_path / "en_train.csv.zip", keep_default_na=False)
    assert {"NA", "null", "None", "nan", "", '"', "a,b", " the", "Ærø", "1.0", "1999", "True"} < set(rows["before"])
    numbers = rows["sentence_id"].unique()
    assert numbers[0] > 0 and (numbers[1:] - numbers[:-1]).max() > 1


def test_looking_tokens_up_beats_the_sample(trial: Trial, answers: pd.DataFrame) -> None:
    train = pd.read_csv(trial.public / "en_train.csv.zip", keep_default_na=False)
    test = pd.read_csv(trial.public / "en_test_2.csv.zip", keep_default_na=False)
    known = train.drop_duplicates("before").set_index("before")["after"]
    guess = answers.assign(after=test["before"].map(known).fillna(test["before"]))
    assert trial.grade(guess) > 0.95


@pytest.mark.slow
def test_it_conforms() -> None:
    check_competition("text-normalization-challenge-english-language")
