"""Agent `baseline`: machine learning with no LLM, so that every competition has a score to beat."""

from __future__ import annotations

import json
from pathlib import Path

from mlecore.hookspecs import hookimpl
from mlecore.model.agents import Agent, Launch, Recipe, Task

# As the core is tested with, so that a cache filled by one fills the other.
PACKAGES = ("numpy==2.4.6", "pandas==2.3.3", "pillow==13.0.0", "scikit-learn==1.9.1", "scipy==1.17.1")
WORK = Path(__file__).parent / "work"


@hookimpl
def agent() -> Agent:
    return Agent(summary="fits scikit-learn models to tables, text and images; no LLM", uses_model=False)


@hookimpl
def recipe() -> Recipe:
    return Recipe(pip=PACKAGES)


@hookimpl
def launch(task: Task) -> Launch:
    facts = {
        "title": task.title,
        "modality": task.modality,
        "metric": task.metric,
        "direction": task.direction,
        "time_limit": task.time_limit,
        "seed": task.seed,
    }
    code = {f"agent/{path.name}": path for path in sorted(WORK.glob("*.py"))}
    return Launch(
        argv=("python3", "agent/main.py"),
        env={"BASELINE_TASK": json.dumps(facts)},
        files=code,
    )
