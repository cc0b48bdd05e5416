"""Rule: the facts in competition.toml are complete and make sense."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from mlecore.errors import MlecoreError
from mlecore.grading.medals import thresholds_for
from mlecore.model.facts import Facts, Thresholds
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken

MODALITIES = ("audio", "graph", "image", "multimodal", "tabular", "text", "time-series", "video")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MD5 = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PREPARED = re.compile(r"(public|private)/[^/].*")


def facts(harness: Harness) -> Iterator[Broken]:
    for what in _flaws(harness.facts):
        yield Broken(what, "competition.toml")


def _flaws(facts: Facts) -> Iterator[str]:
    if not _ID.fullmatch(facts.id):
        yield f"id = {facts.id!r}: only letters, digits, dots, dashes and underscores"
    for name in ("title", "task", "metric"):
        if not getattr(facts, name).strip():
            yield f"{name} is empty"
    if facts.modality not in MODALITIES:
        yield f"modality = {facts.modality!r}: expected one of {', '.join(MODALITIES)}"
    if not facts.answers.startswith("private/") or not _stays(facts.answers):
        yield f"answers = {facts.answers!r}: they belong under private/"
    if not facts.sample.startswith("public/") or not _stays(facts.sample):
        yield f"sample = {facts.sample!r}: it belongs under public/"
    if facts.size_gb is not None and not facts.size_gb > 0:
        yield f"size_gb = {facts.size_gb}: expected a size above 0"
    if not facts.limits.seconds > 0 or not facts.limits.memory_gb > 0:
        yield "[limits]: expected seconds and memory_gb above 0"
    if facts.check_incomplete is not None and not facts.check_incomplete.strip():
        yield "check_incomplete is empty: say why the check cannot see all that grading refuses"
    yield from _lists(facts)
    try:
        thresholds = thresholds_for(facts)
    except MlecoreError as error:
        yield str(error)
        return
    except ValueError as error:
        yield f"leaderboard.csv: {error}"
        return
    for found in filter(None, (thresholds, facts.reference)):
        yield from _order(facts, found)
    if thresholds is not None and facts.reference is not None:
        yield "[reference]: scores of agents are for competitions without a human leaderboard, and this one has one"


def _order(facts: Facts, thresholds: Thresholds) -> Iterator[str]:
    names = ("gold", "silver", "bronze", "median")
    for upper, lower in pairwise(names):
        if not facts.reaches(getattr(thresholds, upper), getattr(thresholds, lower)):
            yield (
                f"thresholds: {upper} = {getattr(thresholds, upper)} is worse than {lower} = "
                f"{getattr(thresholds, lower)}, for direction = {facts.direction!r}"
            )


def _lists(facts: Facts) -> Iterator[str]:
    for path, md5 in facts.md5.items():
        if not _MD5.fullmatch(md5):
            yield f"[md5] {path}: {md5!r} is not an MD5 in 32 small hexadecimal digits"
        if path != "zip" and not _PREPARED.fullmatch(path.partition("@")[0] if "@" in path else path):
            yield f"[md5] {path}: expected zip, or a path under public/ or private/"
    for path in facts.md5_informs:
        if path not in facts.md5:
            yield f"md5_informs names {path}, which is not in [md5]"
    for path in facts.expect:
        if not _PREPARED.fullmatch(path):
            yield f"[expect] {path}: expected a path under public/ or private/"
    for source in facts.sources:
        if not source.url.startswith("https://"):
            yield f"[[sources]] {source.url}: expected an https address"
        if not _stays(source.path):
            yield f"[[sources]] path = {source.path!r}: expected a path below raw/"
        if source.sha256 is not None and not _SHA256.fullmatch(source.sha256):
            yield f"[[sources]] {source.path}: {source.sha256!r} is not a SHA-256 in 64 small hexadecimal digits"
    for leak in facts.leaks:
        if not leak.file.startswith("public/") or not leak.why.strip():
            yield f"[[leaks]] {leak.file}: expected a file under public/ and why it leaks"
    for waiver in facts.waive:
        if not waiver.why.strip():
            yield f"[[waive]] {waiver.rule}: why is empty"


def _stays(path: str) -> bool:
    """Is it a path below the folder that it is relative to?"""
    return bool(path) and not path.startswith("/") and ".." not in path.split("/")
