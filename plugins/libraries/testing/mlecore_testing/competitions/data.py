"""Rules: raw data and prepared data are reproducible, and raw data are not changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

from mlecore.errors import MlecoreError
from mlecore.util.child_environment import child_environment
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken, Stop
from mlecore_testing.trees import Tree, differences, tree

_SECONDS = 300  # that making and preparing may take together


def raw(harness: Harness) -> Iterator[Broken]:
    try:
        harness.create_raw()
    except MlecoreError as error:
        raise Stop(str(error)) from None
    before = _first(harness)
    if not before:
        raise Stop("the folder is still empty")
    if not _twice(harness):
        return
    harness.second_failure = _again(harness)
    if not harness.after_again.exists():
        raise Stop(f"it fails the second time, in a separate process:\n{harness.second_failure}")
    yield from differences(before, _second(harness), "the first time", "the second time")


def prepare(harness: Harness) -> Iterator[Broken]:
    try:
        harness.create_prepared()
    except MlecoreError as error:
        raise Stop(str(error)) from None
    if not _twice(harness):
        return
    if harness.second_failure:
        yield Broken(f"it fails the second time, in a separate process:\n{harness.second_failure}")
    elif _first(harness) == _second(harness):  # different raw data may give different files
        second = tree(harness.prepared_again)
        yield from differences(tree(harness.prepared), second, "the first time", "the second time")


def raw_untouched(harness: Harness) -> Iterator[Broken]:
    yield from differences(_first(harness), tree(harness.raw), "before preparing", "after it")


def _twice(harness: Harness) -> bool:
    """A second process takes as long as all other rules together. A golden file shows that bytes repeat without one."""
    return not harness.short and harness.golden_file is None


def _first(harness: Harness) -> Tree:
    """The raw data as they were created."""
    return harness.shared.raw_tree(harness.raw)


def _second(harness: Harness) -> Tree:
    """The raw data that the other process created."""
    created: Tree = json.loads(harness.after_again.read_text())
    return created


def _again(harness: Harness) -> str:
    """Make and prepare in another process, with another hash seed, time and folder; returns its error, if any."""
    command = [sys.executable, "-m", "mlecore_testing.competitions.again", harness.competition.id]
    command += [harness.competition.edition, str(harness.seed), repr(harness.size), os.fspath(harness.folder)]
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**child_environment(), "PYTHONPATH": path, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Kiritimati"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"it takes more than {_SECONDS} s"
    return done.stderr.strip()[-2000:] if done.returncode else ""
