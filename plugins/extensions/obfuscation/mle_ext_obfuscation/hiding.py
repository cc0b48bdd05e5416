"""What agents see of an obfuscated competition: a task with a random name, in a folder of that name."""

from __future__ import annotations

import hashlib
import hmac
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal
from uuid import uuid4

from attrs import evolve, frozen

from mle_ext_obfuscation.layout import require_tables
from mle_ext_obfuscation.renaming import Renaming
from mle_ext_obfuscation.tables import new_sample, rename_tables
from mle_ext_obfuscation.uses import note_use
from mlecore.errors import DataError
from mlecore.model.backends import Dataset
from mlecore.model.facts import Facts
from mlecore.model.sample import open_sample, sample_place
from mlecore.model.shown import Shown
from mlecore.util import files
from mlecore_toolkit.prepare.files import link_tree

_NAMES = "names.json"
_SAMPLE = "sample.csv"
_TITLE = "A machine-learning task"


@frozen(kw_only=True)
class HiddenDescription(Shown):
    """The prepared files beside the obfuscated description.

    They are linked into a folder whose path does not name the competition: a sandbox shows the paths of its mounts
    (/proc/self/mountinfo).
    """

    facts: Facts
    prepared: Dataset

    def provide(self, group: Path) -> None:
        public = self.dataset.public
        if not public.is_dir():
            _link_public(self.prepared.public, public, self.description)
        note_use(public.parent, self.facts.id, group)


@frozen(kw_only=True)
class HiddenNames(Shown):
    """Tables in which files, columns, categories and ids have other names, and a description that uses these."""

    facts: Facts
    prepared: Dataset

    def provide(self, group: Path) -> None:
        note_use(self.dataset.public.parent, self.facts.id, group)

    def restore(self, submissions: Sequence[Path], task: str | None) -> None:
        names = renaming_of(self.facts, self.prepared, self.dataset.public.parents[1], task)
        sample, _ = sample_place(self.facts, self.prepared.public)
        for path in submissions:
            names.restore(path, sample)


def hide_description(facts: Facts, prepared: Dataset, folder: Path) -> HiddenDescription:
    """Raises UsageError if the competition has no obfuscated description, and DataError."""
    description = facts.obfuscated_description
    root, _ = _task("description", prepared, description, folder)
    return HiddenDescription(
        competition=root.name,
        title=_TITLE,
        description=description,
        description_digest=_digest(description),
        dataset=_dataset(root, prepared, description),
        format=facts.submission,
        facts=facts,
        prepared=prepared,
    )


def hide_names(facts: Facts, prepared: Dataset, folder: Path) -> HiddenNames:
    """Raises UsageError if the competition has more than tables or no obfuscated description, and DataError."""
    root, names = _renamed(facts, prepared, folder)
    description = (root / "public" / "description.md").read_text(encoding="utf-8")
    return HiddenNames(
        competition=root.name,
        title=_TITLE,
        description=description,
        description_digest=_digest(facts.obfuscated_description),
        dataset=_dataset(root, prepared, description),
        format=names.format(facts.submission),
        sample=root / _SAMPLE,
        facts=facts,
        prepared=prepared,
    )


def renaming_of(facts: Facts, prepared: Dataset, folder: Path, task: str | None) -> Renaming:
    """The names that an agent saw in this task. Raises DataError if they are lost."""
    root, names = _renamed(facts, prepared, folder)
    if root.name != task:
        raise DataError(
            f"the names that the agent was given ({task}) are lost: {folder} has different ones ({root.name})",
            fix=f"Restore the seed that was in {folder} then, and resume.",
        )
    return names


def _dataset(root: Path, prepared: Dataset, description: str) -> Dataset:
    digest = _digest(f"{root.name}\0{description}")
    return evolve(prepared, competition=root.name, public=root / "public", digest=digest)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _task(
    hidden: Literal["description", "full"], prepared: Dataset, description: str, folder: Path
) -> tuple[Path, bytes]:
    """The folder for what agents see, which need not exist yet, and the secret seed of its names.

    The seed is random, and the name of the folder follows from it: agents see the name, have the data and this code,
    and must not learn the seed from them. It outlives the folder, so that all runs on the same data see the same
    names. Raises DataError.
    """
    digest = _digest(f"{hidden}\0{prepared.digest}\0{description}")
    path = folder / f"{digest[:32]}.seed"
    try:
        seed = files.random_secret(path)
    except (OSError, DataError) as error:
        raise DataError(
            f"the secret seed of obfuscated data cannot be kept in {path}: {error}",
            fix="Name a data directory that you can write to: --data DIR. If the seed is damaged, remove it.",
        ) from None
    return folder / f"task-{hmac.digest(seed, b'task', 'sha256').hex()[:12]}", seed


def _renamed(facts: Facts, prepared: Dataset, folder: Path) -> tuple[Path, Renaming]:
    """The folder with renamed tables in ``public``, created if it is missing, and the names."""
    require_tables(facts, prepared.public)
    root, seed = _task("full", prepared, facts.obfuscated_description, folder)
    if not root.is_dir():
        _rename_public(facts, prepared.public, root, seed)
    return root, Renaming.read(root / _NAMES)


def _link_public(source: Path, public: Path, description: str) -> None:
    """Links, where the disk has them."""
    if not source.is_dir():
        raise FileNotFoundError(f"the public data are missing: {source}")
    with _fresh(public) as fresh:
        link_tree(source, fresh)
        text = fresh / "description.md"
        text.unlink(missing_ok=True)  # a link to the competition's own description
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
    """A folder that becomes ``target`` once it is complete. If two controllers create it at once, one of them wins."""
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
