"""What agents are shown of a competition: everything, or what an extension that obfuscates leaves of it."""

from __future__ import annotations

import hashlib

from mlecore.data.layout import OBFUSCATED, DataDirs
from mlecore.data.prepared import Prepared
from mlecore.errors import UsageError
from mlecore.model.backends import Dataset
from mlecore.model.facts import Facts
from mlecore.model.record import Obfuscation
from mlecore.model.shown import Shown
from mlecore.plugins.loading import load, load_extensions


def show(facts: Facts, data: Prepared, dirs: DataDirs, obfuscation: Obfuscation) -> Shown:
    """Raises UsageError for what cannot be obfuscated, and if no extension that obfuscates is installed."""
    dataset = Dataset(competition=data.competition, edition=data.edition, public=data.public, digest=data.digest)
    if obfuscation != "none":
        return _obfuscated(facts, dataset, dirs, obfuscation)
    description = data.description(facts)
    return Shown(
        competition=facts.id,
        title=facts.title,
        description=description,
        description_digest=hashlib.sha256(description.encode()).hexdigest(),
        dataset=dataset,
        format=facts.submission,
    )


def _obfuscated(facts: Facts, dataset: Dataset, dirs: DataDirs, obfuscation: Obfuscation) -> Shown:
    hook, folder = load_extensions()[0].hook, dirs.first / OBFUSCATED
    shown: Shown | None = hook.show(facts=facts, dataset=dataset, obfuscation=obfuscation, folder=folder)
    if shown is not None:
        return shown
    load("extension", "obfuscation")  # raises if it is not installed, disabled or broken
    raise UsageError(f"no extension can obfuscate {facts.id} ({obfuscation})")
