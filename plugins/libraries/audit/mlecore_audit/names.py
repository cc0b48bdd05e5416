"""Test files whose name or folder is their label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from mlecore_audit.columns import SHARE
from mlecore_audit.finding import Finding
from mlecore_audit.subject import Subject

_FEWEST = 10  # files


def findings(subject: Subject) -> Iterator[Finding]:
    import pandas as pd

    items = subject.items("test")
    for target in subject.truths.columns:
        truth = subject.truths[target]
        labelled = [(truth[key], item) for key, own in items.items() for item in own]
        if len(labelled) < _FEWEST or len({label for label, _ in labelled}) < 2:
            continue
        if sum(_tells(item.inner, label) for label, item in labelled) >= SHARE * len(labelled):
            told = pd.Series({key: truth[key] for key in items}, dtype=str)
            score = subject.score(subject.as_targets(target, told))
            label, item = labelled[0]
            evidence = f"names of test files reveal {target!r} of the answers, here {label!r}"
            yield Finding(level="answer", kind="names", file=item.name, evidence=evidence, score=score)


def _tells(path: str, label: str) -> bool:
    if len(label) >= 3 and not label.replace(".", "").isdigit():
        return label.lower() in path.lower()
    return label in PurePosixPath(path).parts
