"""Public tables under other names and in another order, both by a secret seed."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from gzip import GzipFile
from pathlib import Path, PurePosixPath
from typing import Any

from mle_ext_obfuscation import naming
from mle_ext_obfuscation.delimited import Delimited, read_header, read_names
from mle_ext_obfuscation.json_table import JsonTable
from mle_ext_obfuscation.layout import (
    DELIMITED,
    RECORDS,
    TEXTS,
    Source,
    impossible,
    require_tables,
    sources,
)
from mle_ext_obfuscation.renaming import Renaming
from mlecore.errors import DataError
from mlecore.model.facts import Facts
from mlecore.util.scratch import scratch
from mlecore_toolkit.prepare.zips import ZipWriter

_MOST_FILES = 1000  # names of files and folders that no id explains
_BLOCK = 1 << 20


def rename_tables(facts: Facts, public: Path, into: Path, seed: bytes) -> Renaming:
    """Write the data of ``public`` into the folder ``into`` under new names; returns these.

    A text column is a column of categories if its values repeat (ten times on average, at most 1,000 of them) and none
    is a number. Equal categories get equal names in all columns, and that of the column if one has their name. Numbers,
    dates and texts keep their characters. Rows are shuffled, those of tables as long as the sample alike if a row is
    known by its place; columns are in the order of their new names. Tables in folders, each of one id, keep rows and
    categories, and texts their lines. What lies in an archive is put into one of the same kind. Files are written in
    the order of their new names, so that neither times nor numbers tell the old one. Raises UsageError, see
    ``require_tables``, and DataError for what is no table.
    """
    require_tables(facts, public)
    with scratch() as unpacked:
        found = list(sources(public, unpacked))
        id = str(facts.submission.id)
        tables = {source: table for source in found if (table := _read(source, id)) is not None}
        sample = tables[_sample(facts, found)]
        parts = [source for source in found if source.in_folder]
        headers = [name for part in parts if part.path.suffix in DELIMITED for name in read_names(part.path)]
        columns = naming.new_columns([*(n for table in tables.values() for n in table.names), *headers], seed)
        stems = {component.split(".")[0] for part in parts for component in part.place.parts}
        ids = naming.new_ids(list(tables.values()), sample, id, stems, seed)
        labels = naming.new_labels(list(tables.values()), ids, columns, seed)
        sample_ids = sample.cells(id)
        assert sample_ids is not None
        by_place = facts.submission.order == "sample"
        places = _places(sample_ids, by_place, seed)
        names = Renaming(
            files=_file_names(facts, found, tables, ids, seed),
            columns=columns,
            labels=labels,
            ids={old: ids[id][old] for old in sample_ids} if ids.get(id) else {},
            id=id,
            sample=tuple(sample.names),
            rows=tuple(places.tolist()) if by_place else (),
        )
        values = {**labels, **ids}
        new = {source: (into / _place(source, names, ids), names.files.get(source.name, "")) for source in found}
        packs: dict[PurePosixPath, list[tuple[str, Path]]] = defaultdict(list)
        for number, source in enumerate(sorted(found, key=lambda source: new[source])):
            place, member = new[source]
            target = place if source.member is None else unpacked / f"renamed-{number}"
            place.parent.mkdir(parents=True, exist_ok=True)
            if (table := tables.get(source)) is not None:
                order = places
                if places is None or table.height != sample.height:
                    # a table that is in the data twice, packed and plain, is shuffled alike
                    order = naming.random_for(seed, "rows", source.name).permutation(table.height)
                table.write(target, columns, values, order)
            elif source.in_folder and source.path.suffix in DELIMITED:
                Delimited(source.path).write(target, columns, {}, None)
            else:
                shutil.copyfile(source.path, target)
            if source.member is not None:
                packs[PurePosixPath(place.as_posix())].append((member, target))
        for archive, packed in packs.items():
            _pack(Path(archive), packed)
    return names


def _places(ids: Any, by_place: bool, seed: bytes) -> Any:
    """Which row of the sample each place gets, if rows are known by their place; equal ids then stay in their order.

    None: they are known by their ids.
    """
    import numpy as np

    if not by_place and not ids.is_duplicated().any():
        return None
    order = naming.random_for(seed, "places").permutation(len(ids))
    if not by_place:
        codes = np.unique(ids.to_numpy(), return_inverse=True)[1]
        order[np.argsort(codes[order], kind="stable")] = np.argsort(codes, kind="stable")
    return order


def new_sample(facts: Facts, names: Renaming) -> str:
    """Where the sample lies among the renamed data, as ``Facts.sample`` has it."""
    path, _, member = facts.sample.partition("!")
    place = f"public/{names.files[PurePosixPath(path).name]}"
    return f"{place}!{names.files[PurePosixPath(member).name]}" if member else place


def _sample(facts: Facts, found: Sequence[Source]) -> Source:
    path, _, member = facts.sample.partition("!")
    place = PurePosixPath(path).relative_to("public")
    for source in found:
        if (source.place, source.member or "") == (place, member):
            return source
    raise DataError(f"the sample submission of {facts.id} is missing: {facts.sample}")


def _read(source: Source, id: str) -> Delimited | JsonTable | None:
    """None for texts, and for tables in folders."""
    if source.in_folder:
        return None
    if source.path.suffix in RECORDS:
        return JsonTable(source.path)
    if source.path.suffix in TEXTS and id not in read_header(source.path)[0]:
        return None
    return Delimited(source.path)


def _file_names(
    facts: Facts,
    found: Sequence[Source],
    tables: Mapping[Source, object],
    ids: Mapping[str, Mapping[str, str]],
    seed: bytes,
) -> dict[str, str]:
    """Old name of a file, archive or folder -> new one, of those that are no ids."""
    known = {id for forth in ids.values() for id in forth}
    kinds: dict[str, str] = {}  # old name -> the new one, with a place for the number
    held = Counter(source.place for source in found)
    for source in sorted(found, key=lambda source: source.name):
        for component in source.place.parts[:-1]:
            if component not in known:
                kinds.setdefault(component, "folder_{}")
        if source.name.split(".")[0] not in known or not source.in_folder:
            kind = "table" if source in tables or source.path.suffix in DELIMITED else "text"
            kinds.setdefault(source.name, f"{kind}_{{}}{source.path.suffix}")
        if held[source.place] > 1:
            kinds.setdefault(source.place.name, f"archive_{{}}{source.place.suffix}")
    if len(kinds) > _MOST_FILES:
        raise impossible(facts, f"{len(kinds):,} of its files and folders have names that no column explains")
    names = {
        old: kind.format(number + 1)
        for (old, kind), number in zip(
            kinds.items(), naming.random_for(seed, "files").permutation(len(kinds)), strict=True
        )
    }
    for source in found:
        if source.member is not None and source.place.name not in names:
            names[source.place.name] = names[source.name] + source.place.suffix
    return names


def _place(source: Source, names: Renaming, ids: Mapping[str, Mapping[str, str]]) -> PurePosixPath:
    def renamed(component: str) -> str:
        if component in names.files:
            return names.files[component]
        stem, dot, suffix = component.partition(".")
        return next(forth[stem] for forth in ids.values() if stem in forth) + dot + suffix

    return PurePosixPath(*map(renamed, source.place.parts))


def _pack(archive: Path, packed: Sequence[tuple[str, Path]]) -> None:
    """With fixed times: the same input gives the same bytes."""
    if archive.suffix == ".zip":
        with ZipWriter(archive) as target:
            for name, path in packed:
                target.add_file(name, path)
    elif archive.suffix == ".7z":
        from mlecore_toolkit.prepare.archives import write_7z

        write_7z(archive, {name: path.read_bytes() for name, path in packed})
    else:
        ((_, path),) = packed
        with path.open("rb") as reader, archive.open("xb") as raw, GzipFile("", "wb", fileobj=raw, mtime=0) as writer:
            shutil.copyfileobj(reader, writer, _BLOCK)
