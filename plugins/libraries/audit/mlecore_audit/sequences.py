"""Lists in the metadata of items that are the answers word by word, under other names: gestures, syllables, events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import log2

from mlecore_audit.columns import SHARE, luck
from mlecore_audit.fields import Fields
from mlecore_audit.finding import Finding
from mlecore_audit.subject import Subject

_FEWEST = 2  # items


def findings(subject: Subject, example: str, fields: Mapping[str, Fields]) -> Iterator[Finding]:
    """For each field that is a list in most items. ``fields``: by the items' keys."""
    names = Counter(name for own in fields.values() for name, value in own.items() if isinstance(value, list))
    for target in subject.truths.columns:
        truths = {key: subject.truths.at[key, target].split() for key in fields}
        for name in (name for name, count in names.items() if count >= _FEWEST):
            lists = {key: value for key, own in fields.items() if isinstance(value := own.get(name), list)}
            if len(lists) >= _FEWEST and (words := _translation(truths, lists)):
                yield _finding(subject, example, name, target, lists, words)


def _translation(truths: Mapping[str, list[str]], lists: Mapping[str, list[str]]) -> dict[str, str] | None:
    """Which word of the lists stands for which word of the answers; None if they do not agree."""
    alike = [key for key in lists if len(lists[key]) == len(truths[key])]
    if len(alike) < SHARE * len(lists):
        return None
    pairs = Counter(pair for key in alike for pair in zip(lists[key], truths[key], strict=True))
    usual: dict[str, str] = {}
    for (word, truth), _ in pairs.most_common():
        usual.setdefault(word, truth)
    agree = sum(count for (word, truth), count in pairs.items() if usual[word] == truth)
    total, labels = sum(pairs.values()), len({truth for _, truth in pairs})
    if not total or agree < SHARE * total or labels < 2:
        return None
    bits = (total - len(usual)) * log2(labels)  # a word's first use only names it
    return usual if bits >= luck(1) else None


def _finding(
    subject: Subject, example: str, name: str, target: str, lists: Mapping[str, list[str]], words: dict[str, str]
) -> Finding:
    import pandas as pd

    said = {key: " ".join(words.get(word, word) for word in value) for key, value in lists.items()}
    score = subject.score(subject.as_targets(target, pd.Series(said, dtype=str)))
    evidence = (
        f"its field {name!r} lists {target!r} of the answers word by word, in {len(lists):,} of "
        f"{len(subject.answers):,} test items"
    )
    return Finding(level="answer", kind="values", file=example, evidence=evidence, score=score)
