"""Writes the package of a competition from a draft."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from attrs import frozen

from mle_ext_own_data.draft import Draft
from mle_ext_own_data.writing.description import description
from mle_ext_own_data.writing.facts import facts_text, test_part
from mle_ext_own_data.writing.module import init_code, raw_names, task_in_words
from mle_ext_own_data.writing.schema import schema, synthetic_code
from mle_ext_own_data.writing.text import quoted
from mlecore.errors import UsageError
from mlecore_testing.scaffold import Package, checked, write
from mlecore_toolkit import read_cells
from mlecore_toolkit.prepare.own_data import INCLUDED, PLACES

if TYPE_CHECKING:
    import polars as pl

_TEMPLATES = Path(__file__).parents[1] / "templates" / "own"
_LARGE = 10_000_000  # bytes, above which a package should not contain its data


@frozen(kw_only=True)
class Written:
    """A package on disk."""

    folder: Path
    package: Package
    notes: tuple[str, ...]  # sentences for the user: what was decided while writing


def write_competition(draft: Draft, into: Path, *, include_data: bool = False) -> Written:
    """Write the package ``mle-comp-<name>`` below ``into``.

    Its own ``prepare`` runs once, in a temporary folder: the description and the facts are those of the prepared files,
    and what describes the targets is of the training part. Raises UsageError if the folder exists or a name cannot be,
    DataError if the data cannot be prepared.
    """
    needs = ["mlecore-toolkit>=0.1", "polars>=1.20", *(["pillow>=10"] if draft.modality == "image" else [])]
    package = checked(
        Package("competition", draft.name, (_TEMPLATES,), "$title: a competition from its owner's data", tuple(needs))
    )
    folder = into / package.distribution
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{folder} already exists; nothing was written", fix="Remove it, or name another --into.")
    into.mkdir(parents=True, exist_ok=True)
    init = init_code(draft)
    with tempfile.TemporaryDirectory(prefix=".mlecore-", dir=into) as name:  # on the same disk: links, no copies
        root = Path(name)
        train = _prepare(draft, init, root)
        asked = read_cells(root / "private" / "test.csv").height
        values = {
            "title": draft.title,
            "init": init,
            "synthetic": synthetic_code(draft, schema(draft, train)),
            "facts": _facts(draft, root, train.height, asked),
            "described": description(draft, root / "public", train, asked),
            **_readme(draft, package, include_data),
        }
        del train
    write(package, into, values)
    module = folder / package.module
    places = [place for place in (draft.table, draft.files) if place is not None]
    notes = _include(places, module / INCLUDED) if include_data else []
    if not include_data:
        (module / PLACES).write_text("".join(f"{place.absolute()}\n" for place in places), encoding="utf-8")
    return Written(folder=folder, package=package, notes=tuple(notes))


def _prepare(draft: Draft, init: str, root: Path) -> pl.DataFrame:
    """Run the package's own ``prepare`` on the data where they are; returns the training part."""
    raw, public, private = (root / name for name in ("raw", "public", "private"))
    for made in (raw, public, private):
        made.mkdir(parents=True)
    for place in (draft.table, draft.files):
        if place is not None:
            (raw / place.name).symlink_to(place.absolute())
    (root / "package.py").write_text(init, encoding="utf-8")
    _loaded(root / "package.py").prepare(raw, public, private)
    return read_cells(public / "train.csv")


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("mle_comp_being_written", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _facts(draft: Draft, root: Path, train: int, test: int) -> str:
    tables = ("public/train.csv", "public/test.csv", "public/sample_submission.csv", "private/test.csv")
    rows = {"public/train.csv": train, "private/test.csv": test}
    folders = ("public/train", "public/test") if draft.files is not None else ()
    files = {path: sum(entry.is_file() for entry in (root / path).rglob("*")) for path in folders}
    return facts_text(draft, rows, files, {path: _md5(root / path) for path in tables})


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def _readme(draft: Draft, package: Package, include_data: bool) -> dict[str, str]:
    names = " and ".join(f"`{name}`" for name in raw_names(draft))
    if include_data:
        data = f"{names}, in `{package.module}/{INCLUDED}/`"
        kept = (
            "**The package contains the raw data, so everybody who has it has the answers.** LICENSE is the code's: "
            "say here which licence the data have."
        )
    else:
        data = f"{names}, which are not in this package (elsewhere: `mlecore prepare {draft.name} --raw FOLDER`)"
        kept = "The raw data stay where they are, and never become part of the package."
    return {
        "task": task_in_words(draft),
        "metric": draft.metric.name,
        "better": "higher" if draft.metric.direction == "maximize" else "lower",
        "test_part": test_part(draft),
        "targets": ", ".join(map(quoted, draft.targets)),
        "data": data,
        "kept": kept,
    }


def _include(places: list[Path], target: Path) -> list[str]:
    """Copy the raw data into the package; returns a warning if they are large."""
    target.mkdir()
    for place in places:
        if place.is_dir():
            shutil.copytree(place, target / place.name)
        else:
            shutil.copyfile(place, target / place.name)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    if size <= _LARGE:
        return []
    return [f"the package contains {size / 1e6:,.0f} MB of data: too much for git and a package index"]
