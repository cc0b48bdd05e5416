"""Other forms than CSV: JSON, TSV, texts, archives, folders of one file an id, and ids composed of others."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from attrs import evolve
from mle_ext_obfuscation.json_table import JsonTable
from mle_ext_obfuscation.layout import require_tables
from mle_ext_obfuscation.tables import new_sample, rename_tables

from mlecore.errors import DataError, UsageError
from mlecore_testing.facts import some_facts
from mlecore_toolkit.prepare.archives import extract, members, write_7z
from mlecore_toolkit.prepare.zips import ZipWriter
from mlecore_toolkit.submissions.format import Column, Format

FACTS = some_facts(submission=Format(id="id", columns={"kind": Column(type="text")}))
SAMPLE = "id,kind\n" + "".join(f"t{n},oak\n" for n in range(30))


@pytest.fixture
def public(tmp_path: Path) -> Path:
    folder = tmp_path / "public"
    folder.mkdir()
    (folder / "sample.csv").write_text(SAMPLE)
    (folder / "description.md").write_text("x")
    return folder


def rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def record(n: int) -> str:
    kind = ("oak", "elm")[n % 2]
    return (
        f'{{"id": "t{n}", "kind" : "{kind}", "height": {n}.50e+1, "note": "say \\"id\\": \\"t1\\", {n}",'
        f' "parts": [{{"kind": "oak", "size": {n}}}]}}'
    )


@pytest.mark.parametrize("name", ["train.json", "train.jsonl"])
def test_json_keeps_numbers_and_texts_as_written(public: Path, tmp_path: Path, name: str) -> None:
    lines = [record(n) for n in range(30)]
    (public / name).write_text("[" + ",".join(lines) + "]" if name == "train.json" else "\n".join(lines) + "\n\n")
    names = rename_tables(FACTS, public, tmp_path / "out", b"1")
    text = (tmp_path / "out" / names.files[name]).read_text()
    found = json.loads(text) if name == "train.json" else [json.loads(line) for line in text.splitlines()]
    by_id = {one[names.columns["id"]]: one for one in found}
    assert list(by_id) != [names.ids[f"t{n}"] for n in range(30)] and len(by_id) == 30
    for n in range(30):
        one = by_id[names.ids[f"t{n}"]]
        assert one[names.columns["kind"]] == names.labels["kind"][("oak", "elm")[n % 2]]
        assert one[names.columns["note"]] == f'say "id": "t1", {n}'
        assert one[names.columns["parts"]][0][names.columns["size"]] == n
    assert all(f"{n}.50e+1" in text for n in range(30))


def test_what_is_no_record_is_named(tmp_path: Path) -> None:
    for content in ("[1, 2]", '{"a": 1', "5", "[{]", '[{"a": 1} {'):
        (tmp_path / "x.json").write_text(content)
        with pytest.raises(DataError, match=r"x\.json cannot be read as JSON records"):
            JsonTable(tmp_path / "x.json")
    (tmp_path / "x.json").write_text(json.dumps({f"k{n}": 1 for n in range(20_000)}))
    with pytest.raises(DataError, match="they are data"):
        JsonTable(tmp_path / "x.json")


def test_the_kind_of_archive_and_the_delimiter_stay(public: Path, tmp_path: Path) -> None:
    table = "id\tkind\n" + "".join(f"t{n}\t{('oak', 'elm')[n % 2]}\n" for n in range(30))
    with ZipWriter(public / "train.tsv.zip") as archive:
        archive.add("train.tsv", table.encode())
    write_7z(public / "copy.tsv.7z", {"train.tsv": table.encode()})
    (public / "train.tsv").write_text(table)
    names = rename_tables(FACTS, public, tmp_path / "out", b"1")
    new = names.files["train.tsv"]
    plain = (tmp_path / "out" / new).read_bytes()
    for old in ("train.tsv.zip", "copy.tsv.7z"):
        packed = tmp_path / "out" / names.files[old]
        assert packed.suffix == Path(old).suffix and members(packed) == [new]
        extract(packed, tmp_path / old, None)
        assert (tmp_path / old / new).read_bytes() == plain
    kinds = {row[names.columns["id"]]: row[names.columns["kind"]] for row in rows(tmp_path / "out" / new, "\t")}
    assert kinds == {names.ids[f"t{n}"]: names.labels["kind"][("oak", "elm")[n % 2]] for n in range(30)}


def test_a_sample_in_an_archive_is_found(public: Path, tmp_path: Path) -> None:
    (public / "sample.csv").unlink()
    with ZipWriter(public / "test.txt.zip") as archive:
        archive.add("test.txt", SAMPLE.encode())
    facts = evolve(FACTS, sample="public/test.txt.zip!test.txt")
    names = rename_tables(facts, public, tmp_path / "out", b"1")
    place, _, member = new_sample(facts, names).partition("!")
    extract(tmp_path / "out" / Path(place).name, tmp_path / "there", {member: "sample.csv"})
    assert {row[names.columns["id"]] for row in rows(tmp_path / "there" / "sample.csv")} == set(names.ids.values())


def test_composed_ids_keep_their_second_part_and_belong_to_the_first(public: Path, tmp_path: Path) -> None:
    (public / "sample.csv").write_text("place,kind\n" + "".join(f"s{n // 3}_{n % 3},oak\n" for n in range(30)))
    (public / "test.csv").write_text("name,other\n" + "".join(f"s{n},s{n}x\n" for n in range(10)))
    facts = evolve(FACTS, submission=Format(id="place", columns={"kind": Column(type="text")}))
    names = rename_tables(facts, public, tmp_path / "out", b"1")
    known = {row[names.columns["name"]] for row in rows(tmp_path / "out" / names.files["test.csv"])}
    assert not any(id.startswith("s") for id in known)
    parts = {old: new.rpartition("_") for old, new in names.ids.items()}
    assert {first for first, _, _ in parts.values()} == known
    assert all(old.endswith(f"_{rest}") for old, (_, _, rest) in parts.items()) and len(set(names.ids.values())) == 30


def test_files_of_one_id_each_keep_their_rows_and_get_its_name(public: Path, tmp_path: Path) -> None:
    (public / "test").mkdir()
    for n in range(30):
        (public / "test" / f"t{n}.csv").write_text("sensor,kind\r\n3,a\r\n1,b\r\n")
    names = rename_tables(FACTS, public, tmp_path / "out", b"1")
    folder = tmp_path / "out" / names.files["test"]
    assert {path.name for path in folder.iterdir()} == {f"{id}.csv" for id in names.ids.values()}
    for path in folder.iterdir():
        assert [(row[names.columns["sensor"]], row[names.columns["kind"]]) for row in rows(path)] == [
            ("3", "a"),
            ("1", "b"),
        ]


def test_folders_of_one_id_each_and_texts(public: Path, tmp_path: Path) -> None:
    for n in range(30):
        (public / "test" / f"t{n}").mkdir(parents=True)
        (public / "test" / f"t{n}" / "geometry.xyz").write_text(f"H 0 0 {n}\n")
    (public / "notes.rtf").write_text("from our sponsor")
    names = rename_tables(FACTS, public, tmp_path / "out", b"1")
    out = tmp_path / "out"
    for n in range(30):
        path = out / names.files["test"] / names.ids[f"t{n}"] / names.files["geometry.xyz"]
        assert path.read_text() == f"H 0 0 {n}\n"
    assert "notes.rtf" not in names.files and not list(out.glob("*.rtf"))
    text = names.description("`test/<id>/geometry.xyz`", out / names.files["sample.csv"])
    assert f"`{names.files['test']}/<{names.columns['id']}>/{names.files['geometry.xyz']}`" in text


@pytest.mark.parametrize(
    ("name", "why"), [("a/b.json", "a/b.json"), ("scan.dcm", "scan.dcm"), ("images.zip", "images.zip with 1.jpg")]
)
def test_what_cannot_be_renamed_is_named(public: Path, name: str, why: str) -> None:
    (public / name).parent.mkdir(exist_ok=True)
    if name.endswith(".zip"):
        with ZipWriter(public / name) as archive:
            archive.add("1.jpg", b"")
    else:
        (public / name).touch()
    with pytest.raises(UsageError, match=f"not tables and texts alone: {why}") as error:
        require_tables(FACTS, public)
    assert "--obfuscate description" in str(error.value.fix)


def test_files_that_no_column_explains_rule_it_out(public: Path, tmp_path: Path) -> None:
    (public / "test").mkdir()
    for n in range(1001):
        (public / "test" / f"u{n}.txt").touch()
    with pytest.raises(UsageError, match="names that no column explains"):
        rename_tables(FACTS, public, tmp_path / "out", b"1")
