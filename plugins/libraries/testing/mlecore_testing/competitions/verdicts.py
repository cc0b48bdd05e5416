"""Rules over mutated submissions: check and grade agree, neither crashes, and a refusal has a readable reason."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken

_LONGEST = 2000  # characters of a reason
_RAW = re.compile(r"Traceback|^\w*(Error|Exception|Warning)\b|\b(Key|Index|Type|Attribute|Assertion)Error\b|File \"")


def errors(harness: Harness) -> Iterator[Broken]:
    for verdict in harness.verdicts:
        for hook, outcome in (("check", verdict.check), ("grade", verdict.grade)):
            if outcome.crash is not None:
                yield Broken(f"{hook} crashes: {outcome.crash}", verdict.mutant.name)


def sound(harness: Harness) -> Iterator[Broken]:
    for verdict in harness.verdicts:
        if verdict.check.refusal is not None and verdict.grade.accepted:
            score = verdict.grade.score
            yield Broken(f"grade accepts it ({score}), check refuses it: {verdict.check.refusal}", verdict.mutant.name)


def complete(harness: Harness) -> Iterator[Broken]:
    missed = [v for v in harness.verdicts if v.grade.refusal is not None and v.check.accepted]
    if harness.facts.check_incomplete is None:
        for verdict in missed:
            yield Broken(f"check accepts it, grade refuses it: {verdict.grade.refusal}", verdict.mutant.name)
    elif not missed:
        yield Broken(
            f"none of {len(harness.verdicts)} mutants is accepted by check and refused by grade, so check is complete",
            "competition.toml, check_incomplete",
        )


def reasons(harness: Harness) -> Iterator[Broken]:
    seen: set[str] = set()
    for verdict in harness.verdicts:
        for hook, outcome in (("check", verdict.check), ("grade", verdict.grade)):
            if outcome.refusal is None or outcome.refusal in seen:
                continue
            seen.add(outcome.refusal)
            if flaw := _flaw(outcome.refusal, harness.locals()):
                yield Broken(f"the reason that {hook} gives {flaw}: {outcome.refusal[:200]!r}", verdict.mutant.name)


def _flaw(reason: str, places: tuple[str, ...]) -> str | None:
    if _RAW.search(reason):
        return "is an exception, not a sentence"
    if len(reason.split()) < 3:
        return "is not a sentence"
    if len(reason) > _LONGEST:
        return f"has {len(reason)} characters"
    if not reason.replace("\n", "").isprintable():
        return "holds control characters"
    if any(place in reason for place in places):
        return "names a folder of this machine"
    return None
