"""What agents are shown of a competition: its id, title, description and public data, or, obfuscated, only the task."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from attrs import frozen

from mlecore import files
from mlecore.backends import Dataset
from mlecore.data.layout import DataDirs
from mlecore.data.prepared import Prepared
from mlecore.errors import DataError
from mlecore.facts import Facts
from mlecore.prepare.files import link_tree

_FOLDER = "obfuscated"  # of a data directory
_TITLE = "A machine-learning task"


@frozen(kw_only=True)
class Shown:
    """What the agents of a run are told. ``dataset`` is complete once ``lay_out`` has run."""

    competition: str
    title: str
    description: str
    dataset: Dataset
    lay_out: Callable[[], None]

    @property
    def description_digest(self) -> str:
        return hashlib.sha256(self.description.encode()).hexdigest()


def as_it_is(facts: Facts, data: Prepared) -> Shown:
    """Everything."""
    return Shown(
        competition=facts.id,
        title=facts.title,
        description=read_description(data.public, facts),
        dataset=Dataset(competition=data.competition, edition=data.edition, public=data.public, digest=data.digest),
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
    public = dirs.first / _FOLDER / name / "public"

    def lay_out() -> None:
        if not public.is_dir():
            _link_public(data.public, public, description)

    return Shown(
        competition=name,
        title=_TITLE,
        description=description,
        dataset=Dataset(competition=name, edition=data.edition, public=public, digest=digest),
        lay_out=lay_out,
    )


def _link_public(source: Path, public: Path, description: str) -> None:
    """Complete or absent: links, where the disk has them, under a temporary name. Two controllers may be at it."""
    if not source.is_dir():
        raise FileNotFoundError(f"the public data are missing: {source}")
    fresh = public.with_name(f".{uuid4().hex}.partial")
    try:
        link_tree(source, fresh)
        text = fresh / "description.md"
        text.unlink(missing_ok=True)  # a link to the other description
        text.write_text(description, encoding="utf-8")
        files.sync_tree(fresh)
        files.rename(fresh, public)
    except OSError as error:
        with suppress(OSError):
            files.remove(fresh)
        if not public.is_dir():
            raise DataError(f"the public data cannot be linked into {public.parent}: {error}") from error


def read_description(public: Path, facts: Facts) -> str:
    """As the agent reads it: data that MLE-bench prepared have their own."""
    try:
        return (public / "description.md").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return facts.description
