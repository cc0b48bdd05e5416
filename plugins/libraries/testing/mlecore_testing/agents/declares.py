"""Rules: an agent says what it is, and what must be installed for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

from mle_lib_agents.requirements import recipe_line
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from mlecore.model.agents import Recipe
from mlecore.util.child_environment import child_environment
from mlecore_testing.agents.harness import AgentBench
from mlecore_testing.rules import Broken, Stop

_DIGEST = """
import json, sys
from mlecore.plugins.loading import load
print(load("agent", sys.argv[1]).hook.recipe(options=json.loads(sys.argv[2])).digest())
"""


def recipe(harness: AgentBench) -> Iterator[Broken]:
    recipe = harness.recipe()
    for what in _flaws(recipe):
        yield Broken(what, "recipe()")
    if harness.recipe().digest() != recipe.digest():
        yield Broken("a different digest the second time, so nothing would be cached", "recipe()")
    elif harness.loaded.implements("recipe") and _digest_elsewhere(harness) != recipe.digest():
        yield Broken("a different digest in another process, so nothing would be cached", "recipe()")


def _flaws(recipe: Recipe) -> Iterator[str]:
    if recipe.image is not None and (
        recipe.base or recipe.apt or recipe.pip or recipe.pip_alone or recipe.npm or recipe.files
    ):
        yield "an image is used unchanged, so nothing else may be requested"
    for line in (*recipe.pip, *recipe.pip_alone):
        try:
            recipe_line(line)
        except ValueError as error:
            yield f"pip: {error}"
    if recipe.python is not None:
        try:
            SpecifierSet(recipe.python)
        except InvalidSpecifier:
            yield f"python: {recipe.python!r} names no versions; write it like '>=3.12'"
    for path in recipe.files:
        if not PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            yield f"files: {path!r} is not an absolute path"
    for program in recipe.programs:
        if "/" in program or not program:
            yield f"programs: {program!r} is not a program's name"


def _digest_elsewhere(harness: AgentBench) -> str:
    import json

    done = subprocess.run(
        [sys.executable, "-c", _DIGEST, harness.name, json.dumps(harness.options)],
        env={**child_environment(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Stop(f"it fails in a separate process:\n{done.stderr.strip()[-2000:]}")
    return done.stdout.strip()
