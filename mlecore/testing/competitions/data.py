"""Rules: raw data and prepared data come out the same twice, and raw data are left as they were."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

from mlecore.errors import MlecoreError
from mlecore.testing.competitions.bench import Bench
from mlecore.testing.rules import Broken, Stop
from mlecore.testing.trees import Tree, differences, read_only, tree

_SECONDS = 300  # that making and preparing may take together


def raw(bench: Bench) -> Iterator[Broken]:
    try:
        bench.make_raw(bench.raw)
    except MlecoreError as error:
        raise Stop(str(error)) from None
    bench.before = tree(bench.raw)
    if not bench.before:
        raise Stop("the folder is still empty")
    bench.second_failure = _again(bench)
    if not bench.after_again.exists():
        raise Stop(f"it fails the second time, in a process of its own:\n{bench.second_failure}")
    yield from differences(bench.before, _second(bench), "the first time", "the second time")


def prepare(bench: Bench) -> Iterator[Broken]:
    read_only(bench.raw)
    try:
        bench.competition.prepare(bench.raw, bench.public, bench.private)
    except MlecoreError as error:
        raise Stop(str(error)) from None
    if bench.second_failure:
        yield Broken(f"it fails the second time, in a process of its own:\n{bench.second_failure}")
    elif bench.before == _second(bench):  # of other raw data other files may come
        second = tree(bench.prepared_again)
        yield from differences(tree(bench.prepared), second, "the first time", "the second time")


def raw_untouched(bench: Bench) -> Iterator[Broken]:
    yield from differences(bench.before, tree(bench.raw), "before preparing", "after it")


def _second(bench: Bench) -> Tree:
    """The raw data that the other process made."""
    made: Tree = json.loads(bench.after_again.read_text())
    return made


def _again(bench: Bench) -> str:
    """Both in another process, with another hash seed, another time, elsewhere; returns what went wrong there."""
    command = [sys.executable, "-m", "mlecore.testing.competitions.again", bench.competition.id]
    command += [bench.competition.edition, str(bench.seed), repr(bench.size), os.fspath(bench.folder)]
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "4711", "TZ": "Pacific/Kiritimati"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"it takes more than {_SECONDS} s"
    return done.stderr.strip()[-2000:] if done.returncode else ""
