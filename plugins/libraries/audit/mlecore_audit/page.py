"""The findings as one page for browsers and printers. It fetches nothing and runs nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import jinja2
from attrs import frozen

from mlecore.model.data_kind import DataKind
from mlecore.model.facts import Facts
from mlecore.util import files
from mlecore_audit.finding import LEVELS, UNEXAMINED, Finding, effect


@frozen(kw_only=True)
class Audited:
    """One competition and what was found."""

    facts: Facts
    kind: DataKind
    findings: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        """Such as "1 answer, 2 cautions; 3 files could not be examined"."""
        examined = [finding for finding in self.findings if finding.kind != UNEXAMINED]
        counts = Counter(finding.level for finding in examined)
        said = [f"{counts[level]} {level}{'s' if counts[level] != 1 else ''}" for level in LEVELS if counts[level]]
        unread = len(self.findings) - len(examined)
        return (", ".join(said) or "nothing found") + (f"; {unread} could not be examined" if unread else "")

    def effect(self, finding: Finding) -> str:
        """What a submission made from a finding alone scores, in words."""
        return effect(finding, self.facts, self.kind)


def write_page(audited: Sequence[Audited], path: Path) -> None:
    """Raises UsageError if the file cannot be written."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    text = environment.get_template("page.html").render(audited=audited, levels=LEVELS)
    with files.output(path) as new:
        new.write_text(text, encoding="utf-8")
