"""Edition v2: test recordings have new names and numbers; each file of segments has its own header."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import mle_comp_mlsp_2013_birds as v1
from mlecore.hookspecs import hookimpl
from mlecore_toolkit import extract, new_names, open_member, read_csv, rename_rows, shuffled, write_csv, write_renamed

SEED = 2


@hookimpl
def prepare(raw: Path, public: Path, private: Path) -> None:
    source = raw / v1.ARCHIVE
    recordings = v1.write_tables(source, public, private)
    essential = public / "essential_data"
    folds = read_csv(essential / "CVfolds_2.txt")
    test = folds.loc[folds["fold"] == 1, "rec_id"]
    ids = {id: id for id in folds["rec_id"].tolist()} | shuffled(test.tolist(), seed=SEED)
    files = read_csv(essential / "rec_id2filename.txt")
    asked = files.loc[files["rec_id"].isin(test), "filename"]
    renamed = new_names(asked, "########", seed=SEED)
    names = {name: name for name in files["filename"]} | renamed
    write_renamed(ids, private / "ids.csv")
    write_renamed(renamed, private / "names.csv")

    (essential / "rec_id2filename.txt").unlink()
    files["filename"] = files["filename"].map(names)
    write_csv(rename_rows(files, "rec_id", ids), essential / "rec_id2filename.txt")
    _renumber_answers(private / "answers.csv", ids)
    for name in v1.SEGMENTS:
        _renumber_segments(source, public / "supplemental_data" / f"{name}.txt", ids)
    places = {member: _with_name(place, names) for member, place in v1.copied(source, recordings).items()}
    extract(source, public, dict(sorted(places.items(), key=lambda pair: pair[1])))


def _renumber_answers(path: Path, ids: dict[int, int]) -> None:
    answers = read_csv(path)
    path.unlink()
    numbers = {id: ids[id // 100] * 100 + id % 100 for id in answers["Id"].tolist()}
    write_csv(rename_rows(answers, "Id", numbers), path)


def _renumber_segments(source: Path, path: Path, ids: dict[int, int]) -> None:
    """The lines of a file of segments in the order of their new numbers, below the archive's own header."""
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    path.unlink()
    parts = [line.partition(",") for line in lines]
    rows = sorted(((ids[int(id)], rest) for id, _, rest in parts), key=lambda row: row[0])
    with open_member(source, f"{v1.SUPPLEMENTAL}/{path.name}") as stream:
        header = stream.readline().decode("utf-8").rstrip()
    v1.write_lines(path, [header, *(f"{id},{rest}" for id, rest in rows)])


def _with_name(place: str, names: dict[str, str]) -> str:
    """Where a file goes, named for its recording if it has one."""
    path = PurePosixPath(place)
    return str(path.with_stem(names.get(path.stem, path.stem)))
