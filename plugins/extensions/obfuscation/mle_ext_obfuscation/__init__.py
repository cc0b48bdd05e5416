"""Hides from agents which competition they work on: `mlecore run --obfuscate [full]`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import mlecore

if TYPE_CHECKING:
    from mlecore.model.backends import Dataset
    from mlecore.model.facts import Facts
    from mlecore.model.leftover import Leftover
    from mlecore.model.record import Obfuscation
    from mlecore.model.shown import Shown


@mlecore.hookimpl
def show(facts: Facts, dataset: Dataset, obfuscation: Obfuscation, folder: Path) -> Shown:
    """Raises UsageError for a competition that cannot be obfuscated, DataError if the disk does not allow it."""
    from mle_ext_obfuscation import hiding

    hide = hiding.hide_names if obfuscation == "full" else hiding.hide_description
    return hide(facts, dataset, folder)


@mlecore.hookimpl
def leftovers(data: Path) -> Sequence[Leftover]:
    """Obfuscated data that no group needs, and those that one does."""
    from mle_ext_obfuscation.uses import leftovers_of

    return leftovers_of(data)
