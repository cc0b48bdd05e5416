"""An installed plugin as a value, and whether it can be used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attrs import field, frozen

if TYPE_CHECKING:
    from mlecore.model.facts import Facts

State = Literal["ok", "disabled", "shadowed", "incompatible", "broken"]
"""Whether a plugin can be used: as far as can be seen, it can; it is disabled by name; another distribution provides
its name; it needs another version of mlecore; something is wrong with it."""


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
    facts: Facts | None = field(default=None, eq=False, repr=False)  # of a competition that works

    @property
    def editions(self) -> tuple[str, ...]:
        """Names of a competition's editions, v1 first."""
        return ("v1", *(self.facts.editions if self.facts else ()))

    def __str__(self) -> str:
        """Such as "agent dummy (mle-agent-dummy 0.1.0, /.../__init__.py)"."""
        file = f", {self.origin}" if self.origin else ""
        return f"{self.kind} {self.name} ({self.distribution} {self.version}{file})"

    def modules(self, edition: str = "v1") -> dict[str, Path | None]:
        """The modules that hold its hooks, with their files; a competition's ``synthetic.py`` is one of them.

        That of an edition (``v2.py``) comes first, as its hooks replace those of the others.
        """
        own = {} if edition == "v1" else self._beside(edition)
        return {**own, self.module: self.origin, **self._beside("synthetic")}

    def _beside(self, name: str) -> dict[str, Path | None]:
        if self.kind != "competition" or self.origin is None or self.origin.name != "__init__.py":
            return {}
        file = self.origin.with_name(f"{name}.py")
        return {f"{self.module}.{name}": file} if file.is_file() else {}
