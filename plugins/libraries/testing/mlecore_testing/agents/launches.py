"""Rules: launch says what to start, and has no side effects."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from unittest.mock import patch

from mlecore.model.agents import HOME, FinishedSubmission, Launch, Task
from mlecore.util.globs import Glob
from mlecore_testing.agents.harness import AgentBench
from mlecore_testing.declared import environment_flaws
from mlecore_testing.rules import Broken
from mlecore_testing.watch import watched

_REACH: Mapping[str, int] = {"none": 0, "llm": 1, "open": 2}


def launch(harness: AgentBench) -> Iterator[Broken]:
    for task in harness.tasks():
        launch = harness.launch(task)
        if isinstance(launch, FinishedSubmission):
            yield from _broken(_finished_submission_flaws(launch), task)
        else:
            yield from _broken(_launch_flaws(harness, launch), task)
        if harness.launch(task) != launch:
            yield Broken("another answer for the same task", _where(task))


def pure(harness: AgentBench) -> Iterator[Broken]:
    for task in harness.tasks():
        with watched() as deeds:
            harness.recipe()
            harness.launch(task)
        for deed in dict.fromkeys(deeds):
            yield Broken(f"it {deed}", _where(task))


def home(harness: AgentBench) -> Iterator[Broken]:
    """Without a mount namespace, the tree is elsewhere."""
    for task in harness.tasks():
        launch = harness.launch(task)
        if task.home == HOME or not isinstance(launch, Launch):
            continue
        texts = (*launch.argv, *(f"{name}={value}" for name, value in launch.env.items()))
        for text in texts:
            if text.startswith(f"{HOME}/") or f"={HOME}/" in text:
                yield Broken(f"{text!r} assumes {HOME}; use task.home, .data and .submission", _where(task))


def keys(harness: AgentBench) -> Iterator[Broken]:
    """Keys are passed by name; the backend adds their values."""
    planted = {name: f"planted-{name}-4711" for name in harness.agent.secrets}
    with patch.dict(os.environ, planted):
        for task in harness.tasks():
            launch = harness.launch(task)
            if not isinstance(launch, Launch):
                continue
            contents = [content for content in launch.files.values() if isinstance(content, bytes)]
            texts = [*launch.argv, *launch.env.values(), launch.stdin.decode("utf-8", "replace")]
            for name, value in planted.items():
                if any(value in text for text in texts) or any(value.encode() in content for content in contents):
                    yield Broken(f"the value of {name} is in what it starts; name it in Launch.secrets", _where(task))


def _launch_flaws(harness: AgentBench, launch: Launch) -> Iterator[str]:
    if not launch.argv or any("\0" in word for word in launch.argv):
        yield f"argv = {launch.argv!r}: expected at least one text"
    yield from environment_flaws(launch.env)
    if undeclared := [name for name in launch.secrets if name not in harness.agent.secrets]:
        yield f"secret {undeclared[0]} is not declared by agent()"
    if _REACH[launch.network] < _REACH[harness.agent.needs.network]:
        yield f"agent() needs the network {harness.agent.needs.network!r}, launch asks for {launch.network!r}"
    if not launch.candidates:
        yield "it names no candidate for the submission"
    for name in launch.files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or "\n" in name:
            yield f"{name!r} is not a path below home"
    for text in launch.candidates:
        try:
            Glob(text)
        except ValueError as error:
            yield f"candidates: {error}"
    for name, content in launch.files.items():
        if isinstance(content, Path) and not content.is_file():
            yield f"files: {name!r} comes from {content}, which is not a file"
    if not math.isfinite(launch.grace) or launch.grace < 0:
        yield f"grace = {launch.grace}: expected seconds"


def _finished_submission_flaws(launch: FinishedSubmission) -> Iterator[str]:
    if launch.submission is not None and not launch.submission.is_file():
        yield f"submission = {launch.submission}, which is not a file"
    for name, path in launch.files.items():
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            yield f"files: {name!r} is not a path below the run's folder"
        if not path.is_file():
            yield f"files: {name!r} comes from {path}, which is not a file"


def _broken(flaws: Iterator[str], task: Task) -> Iterator[Broken]:
    for what in flaws:
        yield Broken(what, _where(task))


def _where(task: Task) -> str:
    return f"launch for {task.competition}, home {task.home}"
