"""A task as a value, for agents under test."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from mlecore.model.agents import Task


def a_task(**changes: Any) -> Task:
    """A task for a table problem, with no words in it."""
    task = Task(
        competition="spaceship-titanic",
        title="",
        modality="tabular",
        metric="accuracy",
        direction="maximize",
        instructions="",
        rules="",
        description="",
        time_limit=60.0,
        seed=0,
        hardware="",
        options={},
    )
    return evolve(task, **changes)
