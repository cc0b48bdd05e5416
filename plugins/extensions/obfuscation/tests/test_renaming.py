"""Tables under other names, and submissions that get the old ones back."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from attrs import evolve
from mle_ext_obfuscation.layout import require_tables
from mle_ext_obfuscation.renaming import Renaming
from mle_ext_obfuscation.tables import rename_tables
from renamed_submissions import compare, forth

from mlecore import competition
from mlecore.errors import DataError, UsageError
from mlecore_testing.facts import some_facts
from mlecore_toolkit.submissions.format import Column, Format

KINDS = ("oak", "elm")
FACTS = some_facts(submission=Format(id="id", columns={"kind": Column(type="text", choices=KINDS)}))
SAMPLE = "id,kind\n" + "".join(f"t{n},oak\n" for n in range(30))


@pytest.fixture
def public(tmp_path: Path) -> Path:
    folder = tmp_path / "public"
    folder.mkdir()
    rows = [f't{n},{n / 7},{KINDS[n % 2]},{n % 3 == 0},"a ""text"" {n},\nlike this"' for n in range(30)]
    (folder / "train.csv").write_text("id,height,kind,tall,note\n" + "\n".join(rows) + "\n")
    (folder / "sample.csv").write_text(SAMPLE)
    (folder / "description.md").write_text("x")
    return folder


@pytest.fixture
def renamed(public: Path, tmp_path: Path) -> Renaming:
    return rename_tables(FACTS, public, tmp_path / "out", b"1")


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_names_change_and_numbers_and_texts_do_not(public: Path, renamed: Renaming, tmp_path: Path) -> None:
    before, after = table(public / "train.csv"), table(tmp_path / "out" / renamed.files["train.csv"])
    assert set(after[0]) == set(renamed.columns.values()) and not set(after[0]) & set(before[0])
    by_id = {row[renamed.columns["id"]]: row for row in after}
    for row in before:
        new = by_id[renamed.ids[row["id"]]]
        assert [new[renamed.columns[name]] for name in ("height", "tall", "note")] == [
            row["height"],
            row["tall"],
            row["note"],
        ]
        assert new[renamed.columns["kind"]] == renamed.labels["kind"][row["kind"]] != row["kind"]
    assert [row[renamed.columns["id"]] for row in after] != [renamed.ids[row["id"]] for row in before]
    assert list(renamed.labels) == ["kind"] and set(renamed.files) == {"train.csv", "sample.csv"}


def test_the_same_seed_gives_the_same_and_another_one_others(public: Path, renamed: Renaming, tmp_path: Path) -> None:
    assert rename_tables(FACTS, public, tmp_path / "again", b"1") == renamed
    for path in (tmp_path / "again").iterdir():
        assert path.read_bytes() == (tmp_path / "out" / path.name).read_bytes()
    assert rename_tables(FACTS, public, tmp_path / "other", b"2") != renamed


def test_rows_of_an_id_that_repeats_keep_their_order(public: Path, tmp_path: Path) -> None:
    (public / "sample.csv").write_text("id,kind\n" + "".join(f"t{n % 20},{KINDS[n // 20]}\n" for n in range(30)))
    names = rename_tables(FACTS, public, tmp_path / "out", b"1")
    sample = table(tmp_path / "out" / names.files["sample.csv"])
    found = [(row[names.columns["id"]], row[names.columns["kind"]]) for row in sample]
    for n in range(10):
        kinds = [kind for id, kind in found if id == names.ids[f"t{n}"]]
        assert kinds == [names.labels["kind"][kind] for kind in KINDS]
    assert [id for id, _ in found] != [names.ids[f"t{n % 20}"] for n in range(30)]


def test_rows_that_are_paired_by_their_place_return_to_it(public: Path, tmp_path: Path) -> None:
    facts = evolve(FACTS, submission=evolve(FACTS.submission, order="sample"))
    names = rename_tables(facts, public, tmp_path / "out", b"1")
    path = tmp_path / "out" / names.files["sample.csv"]
    after = table(tmp_path / "out" / names.files["train.csv"])  # as long as the sample
    ids = [row[names.columns["id"]] for row in table(path)]
    assert ids == [row[names.columns["id"]] for row in after] != [names.ids[f"t{n}"] for n in range(30)]
    for _ in range(2):
        names.restore(path)
        assert path.read_text() == SAMPLE


def test_a_submission_gets_its_names_back_and_once_is_enough(renamed: Renaming, tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    path.write_text(forth(renamed, SAMPLE))
    assert "oak" not in path.read_text() and "id" not in path.read_text()
    for _ in range(2):
        renamed.restore(path)
        assert path.read_text() == SAMPLE


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b'c0,"c1\n', b"a\0b\n", b'c0\n"x"y\n'], ids=["empty", "utf", "quote", "nul", "odd"]
)
def test_what_is_no_table_stays_as_it_is(renamed: Renaming, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "submission.csv"
    path.write_bytes(content)
    renamed.restore(path)
    assert path.read_bytes() == content


def test_a_link_is_not_followed(renamed: Renaming, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(text := forth(renamed, SAMPLE))
    (tmp_path / "submission.csv").symlink_to(tmp_path / "other.csv")
    renamed.restore(tmp_path / "submission.csv")
    assert (tmp_path / "other.csv").read_text() == text and (tmp_path / "submission.csv").is_symlink()


def test_short_long_and_unknown_cells_are_kept(renamed: Renaming, tmp_path: Path) -> None:
    id, kind = renamed.columns["id"], renamed.columns["kind"]
    path = tmp_path / "submission.csv"
    path.write_text(f'{kind},z,{id}\nash\n{renamed.labels["kind"]["elm"]},"a\rb",{renamed.ids["t3"]},more\n')
    renamed.restore(path)
    with path.open(newline="") as file:
        assert list(csv.reader(file)) == [["kind", "z", "id"], ["ash"], ["elm", "a\rb", "t3", "more"]]


def test_the_form_and_the_description_speak_the_new_names(renamed: Renaming, tmp_path: Path) -> None:
    form = renamed.format(FACTS.submission)
    assert form.id == renamed.columns["id"] and list(form.columns) == [renamed.columns["kind"]]
    assert set(form.columns[renamed.columns["kind"]].choices) == set(renamed.labels["kind"].values())
    old = "The kind (`kind`: `oak` or `elm`) in `train.csv`, not `kindly`.\n\n```\nid,kind\nt1,oak\n```\n"
    text = renamed.description(old, tmp_path / "out" / renamed.files["sample.csv"])
    assert text.startswith(f"The kind (`{renamed.columns['kind']}`: `{renamed.labels['kind']['oak']}` or ")
    assert f"`{renamed.files['train.csv']}`, not `kindly`" in text
    header = ",".join(sorted((renamed.columns["id"], renamed.columns["kind"])))
    assert "t1,oak" not in text and f"```\n{header}\n" in text


def test_ids_that_are_texts_are_kept(public: Path, tmp_path: Path) -> None:
    (public / "sample.csv").write_text("id,kind\nsome words,oak\n")
    assert rename_tables(FACTS, public, tmp_path / "out", b"1").ids == {}


def test_names_like_the_new_ones_are_not_confused_with_them(public: Path, tmp_path: Path) -> None:
    (public / "sample.csv").write_text("id,kind,c0,c1,c2\n" + "".join(f"r{n:02d},oak,1,1,1\n" for n in range(30)))
    names = rename_tables(FACTS, public, tmp_path / "out", b"1")
    for new in (names.columns, names.ids, names.labels["kind"]):
        assert not new.keys() & set(new.values()) and len(set(new.values())) == len(new)


def test_masks_rule_it_out(public: Path) -> None:
    form = Format(id="id", columns={"m": Column(type="mask", pixels=4)})
    with pytest.raises(UsageError, match="its column m holds mask"):
        require_tables(evolve(FACTS, submission=form), public)


def test_a_table_that_cannot_be_read_is_named(public: Path, tmp_path: Path) -> None:
    (public / "train.csv").write_bytes(b"id,kind\n1,2,3\n")
    with pytest.raises(DataError, match=r"train\.csv cannot be read as a table"):
        rename_tables(FACTS, public, tmp_path / "out", b"1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "id",
    [
        "spaceship-titanic",
        "random-acts-of-pizza",
        "movie-review-sentiment-analysis-kernels-only",
        "text-normalization-challenge-russian-language",
        "stanford-covid-vaccine",
    ],
)
def test_renamed_submissions_score_the_same_bit_for_bit(id: str, shared_data, tmp_path: Path) -> None:
    found = competition(id)
    prepared = shared_data.prepared(found, 0, 0.1)
    names = rename_tables(found.facts, prepared / "public", tmp_path / "out", b"7")
    pairs = list(compare(found, prepared, names, tmp_path))
    assert [before for _, before, _ in pairs] == [after for _, _, after in pairs]
    assert len({before for _, before, _ in pairs}) > 2  # some were changed enough to be told apart
