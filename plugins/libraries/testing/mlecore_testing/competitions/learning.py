"""Rule: a model can beat the sample submission on the data. Tries that of the agent baseline, if it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

from mlecore.controller.instructions import instructions
from mlecore.errors import UsageError
from mlecore.model.agents import Launch, Task
from mlecore.model.options import resolve
from mlecore.plugins.loading import Loaded, load
from mlecore.util.child_environment import child_environment
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken, Undecided

AGENT = "baseline"
_LIMIT = 60.0  # seconds that the agent is told
_MOST = 600.0  # seconds that it gets, as this machine may be busy
_SHOWN = 2000  # characters of the output of a crash
_HARDWARE = "2 CPUs, 4 GiB of memory, no GPU"


def learnable(harness: Harness) -> Iterator[Broken]:
    if harness.golden_file:
        raise Undecided("its data and scores are those of its golden file")
    try:
        agent = load("agent", AGENT)
    except UsageError:
        raise Undecided(f"the agent {AGENT} is not installed") from None
    options = resolve(agent.call("agent").options, {}, f"agent {AGENT}")
    _installed(agent, options)
    home = harness.folder / "trial" / "home"
    done = _work(harness, agent, options, home)
    said = (done.stdout + done.stderr).strip()
    if done.returncode:
        yield Broken(f"it crashes, exit code {done.returncode}:\n{said[-_SHOWN:]}", f"the agent {AGENT}")
        return
    path = home / "submission" / "submission.csv"
    if not path.is_file() or path.read_bytes() == harness.sample:
        last = said.rpartition("\n")[2]
        raise Undecided(f"the agent {AGENT} has no model for it: {last}")
    model, base = harness.grade(path.read_bytes()), harness.grade(harness.sample)
    if not model.accepted:
        yield Broken(f"grade refuses it: {model.refusal or model.crash}", f"the submission of {AGENT}")
    elif model.score is None or base.score is None or not harness.facts.better(model.score, base.score):
        yield Broken(f"it scores {model.score}, the sample submission {base.score}", f"the submission of {AGENT}")


def _installed(agent: Loaded, options: Mapping[str, str]) -> None:
    """What the agent needs must be in this environment already: the kit installs nothing."""
    recipe = agent.call("recipe", options=options)
    for text in recipe.pip if recipe else ():
        try:
            distribution(Requirement(text).name)
        except PackageNotFoundError:
            raise Undecided(f"the agent {AGENT} needs {text}, which is not installed here") from None


def _work(harness: Harness, agent: Loaded, options: Mapping[str, str], home: Path) -> subprocess.CompletedProcess[str]:
    """Let it work on the data, in a tree like a sandbox's."""
    for name in ("submission", "code", "logs"):
        (home / name).mkdir(parents=True)
    (home / "data").symlink_to(harness.public)
    launch = agent.call("launch", task=_task(harness, home, options))
    assert isinstance(launch, Launch)
    for name, content in launch.files.items():
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, target)
        else:
            target.write_bytes(content)
    environment = {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), child_environment().get("PATH", os.defpath)]),
        "HOME": str(home),
        "MLECORE_HOME": str(home),
        "MLECORE_OPT": str(harness.tools()),
        "MLECORE_CPUS": "1",  # for data so small more threads are slower
        **launch.env,
    }
    try:
        return subprocess.run(
            launch.argv, cwd=home, env=environment, capture_output=True, errors="replace", timeout=_MOST, check=False
        )
    except subprocess.TimeoutExpired:
        raise Undecided(f"the agent {AGENT} is not done after {_MOST:.0f} s") from None


def _task(harness: Harness, home: Path, options: Mapping[str, str]) -> Task:
    place = PurePosixPath(home)
    told = instructions(time_limit=_LIMIT, hardware=_HARDWARE, network="none", home=place)
    return Task(
        competition=harness.facts.id,
        title=harness.facts.title,
        modality=harness.facts.modality,
        metric=harness.facts.metric,
        direction=harness.facts.direction,
        instructions=told.text,
        rules=told.rules,
        description=harness.facts.description,
        time_limit=_LIMIT,
        seed=harness.seed,
        hardware=_HARDWARE,
        options=options,
        home=place,
    )
