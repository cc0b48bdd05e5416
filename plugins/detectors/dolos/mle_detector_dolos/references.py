"""What runs are compared with: Kaggle's notebooks, the user's own files, other runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from attrs import evolve, frozen

from mle_detector_dolos.scripts import Script, read_script, scripts_of
from mlecore.errors import UsageError
from mlecore.model.competition import Competition
from mlecore.model.detectors import Verdict
from mlecore.model.record import RunRecord
from mlecore.runs.code import PYTHON

_MOST = 10_000  # files


@frozen(kw_only=True, eq=False)
class References:
    """Scripts; if there are none, the reason, and the verdict on a run."""

    scripts: Sequence[Script]
    none: str = ""
    verdict: Verdict = "undecided"


def references_for(competition: Competition, folder: str | None, notebooks: int) -> References:
    """One's own files, else the competition's public notebooks. Raises MlecoreError where they cannot be had."""
    if folder:
        return _of_folder(Path(folder), competition.id)
    if competition.facts.kaggle is None:
        return References(scripts=(), none="the competition is not Kaggle's, so that no public notebooks are known")
    from mle_detector_dolos.notebooks import fetch_notebooks

    return _of_notebooks(fetch_notebooks(competition.facts.kaggle, notebooks), competition.facts.kaggle)


@cache
def _of_folder(folder: Path, competition: str) -> References:
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", fix="Name an existing folder: -D references=DIR")
    own = folder / competition
    return References(scripts=_read(own if own.is_dir() else folder), none=f"{folder} contains no Python code")


@cache
def _of_notebooks(folder: Path, slug: str) -> References:
    return References(scripts=_read(folder), none=f"{slug} has no public notebooks in Python")


def _read(folder: Path) -> list[Script]:
    found = []
    for path in islice(_paths(folder), _MOST):
        text = read_script(path)
        if text is not None:
            found.append(Script(name=path.relative_to(folder).as_posix(), text=text, of="references"))
    return found


def _paths(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(where, name) for name in sorted(names) if name.lower().endswith(PYTHON))


def of_runs(run: RunRecord, group: Sequence[RunRecord]) -> References:
    """Other runs on the same competition; those of the same program without a model have the same code anyway."""
    others = [
        other
        for other in group
        if other.uid != run.uid
        and other.competition == run.competition
        and (run.model is not None or _setup(other) != _setup(run))
    ]
    scripts = [evolve(each, of=other.name) for other in others for each in scripts_of(other, [])]
    verdict: Verdict = "undecided" if others else "clean"
    return References(scripts=scripts, none="no other run has code to compare with", verdict=verdict)


def _setup(run: RunRecord) -> tuple[object, ...]:
    return run.agent.name, tuple(sorted(run.agent.options.items())), run.model, run.launch_digest
