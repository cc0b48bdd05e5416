"""What agents are shown of a competition: its id, title, description and public data, or, obfuscated, only the task."""

from __future__ import annotations

import hashlib
import hmac
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
    description_digest: str  # SHA-256, before anything in it was renamed
    dataset: Dataset
    format: Format  # of a submission, in the names that they see
    lay_out: Callable[[], None]
    sample: Path | None = None  # if another than the competition's

    def provide(self, facts: Facts, group: Path) -> None:
        """Lay the data out, and note that the group uses them."""
        self.lay_out()
        if self.competition != facts.id:
            claim(self.dataset.public.parent, facts.id, group)


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
    description = read_description(data.public, facts)
    return Shown(
        competition=facts.id,
        title=facts.title,
        description=description,
        description_digest=hashlib.sha256(description.encode()).hexdigest(),
        dataset=Dataset(competition=data.competition, edition=data.edition, public=data.public, digest=data.digest),
        format=facts.submission,
        lay_out=lambda: None,
    )


def obfuscated(facts: Facts, data: Prepared, dirs: DataDirs) -> Shown:
    """The task only. Raises UsageError if the competition has no obfuscated description.

    The public files are linked into a folder whose path does not name the competition: a sandbox shows the paths of its
    mounts (/proc/self/mountinfo).
    """
    description = facts.obfuscated_description
    root, _ = _task("description", data, description, dirs)

    def lay_out() -> None:
        if not (root / "public").is_dir():
            _link_public(data.public, root / "public", description)

    return _shown(root, facts, data, description, lay_out)


def renamed(facts: Facts, data: Prepared, dirs: DataDirs) -> Shown:
    """The task in other names. Raises UsageError if the competition has more than tables, or no such description."""
    root, names = _renamed(facts, data, dirs)
    description = (root / "public" / "description.md").read_text(encoding="utf-8")
    shown = _shown(root, facts, data, description, lambda: None)
    return evolve(shown, format=names.format(facts.submission), sample=root / _SAMPLE)


def _shown(root: Path, facts: Facts, data: Prepared, description: str, lay_out: Callable[[], None]) -> Shown:
    digest = hashlib.sha256(f"{root.name}\0{description}".encode()).hexdigest()
    dataset = Dataset(competition=root.name, edition=data.edition, public=root / "public", digest=digest)
    return Shown(
        competition=root.name,
        title=_TITLE,
        description=description,
        description_digest=hashlib.sha256(facts.obfuscated_description.encode()).hexdigest(),
        dataset=dataset,
        format=facts.submission,
        lay_out=lay_out,
    )


def _task(hidden: str, data: Prepared, description: str, dirs: DataDirs) -> tuple[Path, bytes]:
    """The folder of what agents see of such data, which need not exist yet, and the secret seed of its names.

    The seed is random, and the name of the folder follows from it: agents see the name, have the data and mlecore's
    code, and must not learn the seed from them. It outlives the folder, so that all runs on the same data see the same
    names. Raises DataError.
    """
    digest = hashlib.sha256(f"{hidden}\0{data.digest}\0{description}".encode()).hexdigest()
    path = dirs.first / OBFUSCATED / f"{digest[:32]}.seed"
    try:
        seed = files.random_secret(path)
    except (OSError, DataError) as error:
        raise DataError(
            f"the secret seed of obfuscated data cannot be kept in {path}: {error}",
            fix="Name a data directory that you can write to: --data DIR. If the seed is damaged, remove it.",
        ) from None
    return path.with_name(f"task-{hmac.digest(seed, b'task', 'sha256').hex()[:12]}"), seed


def names_of(facts: Facts, data: Prepared, dirs: DataDirs, task: str | None) -> Names:
    """What ``renamed`` renamed for an agent that was shown this task. Raises DataError if that is lost."""
    root, names = _renamed(facts, data, dirs)
    if root.name != task:
        raise DataError(
            f"the names that the agent was given ({task}) are lost: those in {root.parent} are others ({root.name})",
            fix=f"Restore the seed that was in {root.parent} then, and resume.",
        )
    return names


def _renamed(facts: Facts, data: Prepared, dirs: DataDirs) -> tuple[Path, Names]:
    """The folder with renamed tables in ``public``, created if it is missing, and the names."""
    require_tables(facts, data.public)
    root, seed = _task("full", data, facts.obfuscated_description, dirs)
    if not root.is_dir():
        _rename_public(facts, data.public, root, seed)
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


def _rename_public(facts: Facts, source: Path, root: Path, seed: bytes) -> None:
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
