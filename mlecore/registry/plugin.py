"""An installed plugin as a value, and whether it can be used."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from attrs import frozen

State = Literal["ok", "disabled", "shadowed", "incompatible", "broken"]
"""Whether a plugin can be used: as far as can be seen, it can; it is disabled by name; another distribution provides
its name; it needs another version of mlecore; something is wrong with it."""


@frozen(kw_only=True)
class CompetitionSummary:
    """What a listing shows of a competition: some of its facts, under the same names."""

    title: str
    modality: str
    task: str
    metric: str
    direction: str
    split: str | None
    size_gb: float | None
    editions: tuple[str, ...]  # other than v1


@frozen(kw_only=True)
class Plugin:
    """An installed plugin. A state other than "ok" comes with a reason; more can turn up when it is loaded."""

    kind: str
    name: str
    version: str
    distribution: str
    summary: str
    module: str
    origin: Path | None  # the module's file
    state: State = "ok"
    reason: str = ""
    competition: CompetitionSummary | None = None  # of a competition that works

    @property
    def editions(self) -> tuple[str, ...]:
        """Of a competition, v1 first."""
        return ("v1", *(self.competition.editions if self.competition else ()))

    def __str__(self) -> str:
        """Such as "agent dummy (mle-agent-dummy 0.1.0, /.../__init__.py)"."""
        file = f", {self.origin}" if self.origin else ""
        return f"{self.kind} {self.name} ({self.distribution} {self.version}{file})"

    @property
    def modules(self) -> tuple[tuple[str, Path | None], ...]:
        """The modules that hold its hooks, with their files: a competition's ``synthetic.py`` is one of them."""
        return ((self.module, self.origin), *self._beside("synthetic"))

    def edition_modules(self, edition: str) -> tuple[tuple[str, Path | None], ...]:
        """``modules`` in an edition; its own (``v2.py``) comes first, as its hooks replace those of the others."""
        return (*(self._beside(edition) if edition != "v1" else ()), *self.modules)

    def _beside(self, name: str) -> tuple[tuple[str, Path | None], ...]:
        if self.kind != "competition" or self.origin is None or self.origin.name != "__init__.py":
            return ()
        file = self.origin.with_name(f"{name}.py")
        return ((f"{self.module}.{name}", file),) if file.is_file() else ()
