"""What agents are shown of a competition: its id, title, description and public data, or, obfuscated, only the task."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from attrs import evolve, frozen

from mlecore import files
from mlecore.backends import Dataset
from mlecore.controller.claims import claim
from mlecore.data.layout import OBFUSCATED, DataDirs
from mlecore.data.prepared import Prepared
from mlecore.data.sample import open_sample
from mlecore.errors import DataError
from mlecore.facts import Facts
from mlecore.obfuscation.layout import require_tables
from mlecore.obfuscation.names import Names
from mlecore.obfuscation.tables import new_sample, rename_tables
from mlecore.prepare.files import link_tree
from mlecore.runs.record import Obfuscation
from mlecore.submissions.format import Format

_NAMES = "names.json"
_SAMPLE = "sample.csv"
_TITLE = "A machine-learning task"


@frozen(kw_only=True)
class Shown:
    """What the agents of a run are told. ``dataset`` is complete once ``lay_out`` has run."""

    competition: str
    title: str
    description: str
    dataset: Dataset
    format: Format  # of a submission, in the names that they see
    lay_out: Callable[[], None]
    sample: Path | None = None  # if another than the competition's

    def provide(self, facts: Facts, group: Path) -> None:
        """Lay the data out, and note that the group uses them."""
        self.lay_out()
        if self.competition != facts.id:
            claim(self.dataset.public.parent, facts.id, group)

    @property
    def description_digest(self) -> str:
        return hashlib.sha256(self.description.encode()).hexdigest()


def show(facts: Facts, data: Prepared, dirs: DataDirs, obfuscation: Obfuscation) -> Shown:
    """Raises UsageError for what cannot be obfuscated."""
    match obfuscation:
        case "none":
            return as_it_is(facts, data)
        case "description":
            return obfuscated(facts, data, dirs)
        case "full":
            return renamed(facts, data, dirs)


def as_it_is(facts: Facts, data: Prepared) -> Shown:
    """Everything."""
    return Shown(
        competition=facts.id,
        title=facts.title,
        description=read_description(data.public, facts),
        dataset=Dataset(competition=data.competition, edition=data.edition, public=data.public, digest=data.digest),
        format=facts.submission,
        lay_out=lambda: None,
    )


def obfuscated(facts: Facts, data: Prepared, dirs: DataDirs) -> Shown:
    """The task only. Raises UsageError if the competition has no obfuscated description.

    The public files are linked into a folder whose path does not name the competition: a sandbox shows the paths of its
    mounts (/proc/self/mountinfo). The folder's name follows from its content, so that groups share it.
    """
    description = facts.obfuscated_description
    digest = hashlib.sha256(f"{data.digest}\0{description}".encode()).hexdigest()
    name = f"task-{digest[:12]}"
    public = dirs.first / OBFUSCATED / name / "public"

    def lay_out() -> None:
        if not public.is_dir():
            _link_public(data.public, public, description)

    return Shown(
        competition=name,
        title=_TITLE,
        description=description,
        dataset=Dataset(competition=name, edition=data.edition, public=public, digest=digest),
        format=facts.submission,
        lay_out=lay_out,
    )


def renamed(facts: Facts, data: Prepared, dirs: DataDirs) -> Shown:
    """The task in other names. Raises UsageError if the competition has more than tables, or no such description."""
    root, names = _renamed(facts, data, dirs)
    description = (root / "public" / "description.md").read_text(encoding="utf-8")
    digest = hashlib.sha256(f"{root.name}\0{description}".encode()).hexdigest()
    return Shown(
        competition=root.name,
        title=_TITLE,
        description=description,
        dataset=Dataset(competition=root.name, edition=data.edition, public=root / "public", digest=digest),
        format=names.format(facts.submission),
        lay_out=lambda: None,
        sample=root / _SAMPLE,
    )


def names_of(facts: Facts, data: Prepared, dirs: DataDirs) -> Names:
    """What ``renamed`` renamed."""
    return _renamed(facts, data, dirs)[1]


def _renamed(facts: Facts, data: Prepared, dirs: DataDirs) -> tuple[Path, Names]:
    """The folder with renamed tables in ``public``, created if it is missing, and the names.

    The seed follows from the digest of the data, so that all runs on the same data see the same names.
    """
    require_tables(facts, data.public)
    digest = hashlib.sha256(f"full\0{data.digest}\0{facts.obfuscated_description}".encode()).hexdigest()
    root = dirs.first / OBFUSCATED / f"task-{digest[:12]}"
    if not root.is_dir():
        _rename_public(facts, data.public, root)
    return root, Names.read(root / _NAMES)


def _link_public(source: Path, public: Path, description: str) -> None:
    """Links, where the disk has them."""
    if not source.is_dir():
        raise FileNotFoundError(f"the public data are missing: {source}")
    with _fresh(public) as fresh:
        link_tree(source, fresh)
        text = fresh / "description.md"
        text.unlink(missing_ok=True)  # a link to the other description
        text.write_text(description, encoding="utf-8")


def _rename_public(facts: Facts, source: Path, root: Path) -> None:
    seed = int(hashlib.sha256(root.name.encode()).hexdigest()[:16], 16)
    with _fresh(root) as fresh:
        names = rename_tables(facts, source, fresh / "public", seed)
        names.write(fresh / _NAMES)
        with open_sample(evolve(facts, sample=new_sample(facts, names)), fresh / "public") as sample:
            shutil.copyfile(sample, fresh / _SAMPLE)
        text = names.description(facts.obfuscated_description, fresh / _SAMPLE)
        (fresh / "public" / "description.md").write_text(text, encoding="utf-8")


@contextmanager
def _fresh(target: Path) -> Iterator[Path]:
    """A folder that becomes ``target`` when it is complete. Two controllers may be at it: one of them is first."""
    fresh = target.with_name(f".{uuid4().hex}.partial")
    try:
        fresh.mkdir(parents=True)
        yield fresh
        files.sync_tree(fresh)
        files.rename(fresh, target)
    except OSError as error:
        if not target.is_dir():
            raise DataError(f"obfuscated data cannot be written to {target.parent}: {error}") from error
    finally:
        with suppress(OSError):
            files.remove(fresh)


def read_description(public: Path, facts: Facts) -> str:
    """As the agent reads it: data that MLE-bench prepared have their own."""
    try:
        return (public / "description.md").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return facts.description
