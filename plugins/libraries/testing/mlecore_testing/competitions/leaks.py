"""Rule: public files do not give the answers away, as far as the audit's checks of values and names can tell.

Known leaks of the published data are in [[leaks]] of competition.toml, and are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from mlecore_audit import answers
from mlecore_audit.finding import is_declared

from mlecore.errors import MlecoreError
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken, Undecided


def leaks(harness: Harness) -> Iterator[Broken]:
    return serious(harness, answers)


def serious(harness: Harness, check: ModuleType) -> Iterator[Broken]:
    """What one of the audit's checks finds, if it is more than a caution and not declared."""
    try:
        for finding in check.examine(harness.subject):
            if finding.level in ("answer", "leak") and not is_declared(finding, harness.facts):
                yield Broken(finding.evidence, finding.file)
    except MlecoreError as error:
        raise Undecided(str(error)) from None
