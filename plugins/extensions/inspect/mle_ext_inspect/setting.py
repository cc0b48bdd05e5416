"""What a task was asked for: which data, which sandbox. Kept in each sample's metadata, from which the rest works."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, frozen

from mlecore.controller.experiment import Inputs, read_inputs
from mlecore.model.agents import Network
from mlecore.model.plan import Plan, PlannedData

Delivery = Literal["mount", "copy"]


@frozen(kw_only=True)
class Setting:
    """The same for all samples of a task."""

    edition: str = "v1"
    synthetic: bool = False
    data: tuple[str, ...] = ()  # data directories; empty: those that `mlecore prepare` uses
    delivery: Delivery = "mount"  # how the public data come into the sandbox
    image: str = ""
    cpus: float | None = None
    memory: int | None = None  # bytes
    gpus: int = 0
    network: Network = "none"
    outputs: str = ""  # folder for what samples leave

    def inputs(self, competition: str) -> Inputs:
        """The competition's data; synthetic ones are prepared if they are missing. Raises MlecoreError."""
        plan = Plan(data=PlannedData(edition=self.edition, synthetic=self.synthetic))
        data: Sequence[str | Path] = self.data
        return read_inputs(competition, plan, data, lambda text: None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Setting:
        return cls(**{**values, "data": tuple(values["data"])})
