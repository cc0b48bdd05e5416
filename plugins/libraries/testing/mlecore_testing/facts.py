"""The facts of a competition as a value, without a package."""

from __future__ import annotations

from typing import Any

from mlecore.model.facts import Facts
from mlecore_toolkit.submissions.format import Column, Format


def some_facts(id: str = "tiny", **changes: Any) -> Facts:
    """Facts of a table problem: a number ``y`` for each ``id``, graded by its error."""
    values: dict[str, Any] = {
        "title": id.title(),
        "modality": "tabular",
        "task": "regression",
        "metric": "rmse",
        "direction": "minimize",
        "answers": "private/test.csv",
        "sample": "public/sample.csv",
        "submission": Format(id="id", columns={"y": Column(type="number")}),
    }
    return Facts(id=id, **{**values, **changes})
