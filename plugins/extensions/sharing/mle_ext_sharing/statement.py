"""The statements that people sign about a bundle: in-toto Statements (v1) about its lists of files.

The bytes of the statement's file are what is signed. Its subjects are ``bundle.json``, which has the hash of
``bundle.files``, and ``bundle.files``, which has that of every other file.
"""

# ruff: noqa: N815 (in-toto's keys)
from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

from mle_ext_sharing.bundle import FILES, HEAD, LIST_LIMIT, OpenBundle
from mle_ext_sharing.public import model_name
from mlecore.runs.folders import RECORD
from mlecore.runs.journal import now
from mlecore.runs.store import load_group, open_group
from mlecore.util.schema import NOT_IN_FILE, SchemaError, parse_json, plain, structure_newer
from mlecore.util.units import counted

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:mlecore:export:v1"
_NAMED = 5  # names in one sentence

Role = Literal["ran", "graded again", "ran again"]


@frozen(kw_only=True)
class Subject:
    """A file that the statement is about."""

    name: str  # in the bundle
    digest: Mapping[str, str]  # algorithm -> hexadecimal digest; always has sha256


@frozen(kw_only=True)
class Claim:
    """A summary of the bundle's records, for readers without the bundle. ``verify`` compares both."""

    group: str  # name of the group when it was created
    group_uid: str  # random
    group_created_at: str  # ISO 8601, UTC
    runs: int  # that have a record
    graded: int  # of these
    valid: int  # of the graded ones: submissions that could be graded
    any_medal: int  # of the graded ones
    agents: tuple[str, ...]  # with version and the SHA-256 of their source
    models: tuple[str, ...]  # that the agents were to work with
    competitions: tuple[str, ...]  # ids
    editions: tuple[str, ...]  # of the competitions
    data: tuple[str, ...]  # kinds of data: published, synthetic ...
    seeds: tuple[int, ...]  # given to the agents


@frozen(kw_only=True)
class Attestations:
    """What third parties vouch for; an empty list where nobody does."""

    images: tuple[str, ...] = ()  # digests of the images that jobs ran from, as the records name them


@frozen(kw_only=True)
class Comparison:
    """What a second party found. The statement exists only if nothing differed."""

    runs: int  # that were compared
    group_uid: str | None = None  # of the second party's own group; null where it graded the same submissions
    same_medal: int | None = None  # pairs of runs (same competition and seed) that both earned a medal, or both none


@frozen(kw_only=True)
class Predicate:
    """Who says what about the bundle."""

    role: Role  # of the signer: ran the group; graded its submissions again; ran the same plan again
    stated_at: str  # ISO 8601, UTC, by the signer's clock
    mlecore: str  # the version that wrote the statement
    claim: Claim  # what the records say
    compared: Comparison | None = None  # null if the signer is the one who ran the group
    attestations: Attestations = Attestations()  # what third parties vouch for


@frozen(kw_only=True)
class Statement:
    """An in-toto Statement, v1."""

    _type: str = STATEMENT  # of every such statement
    subject: tuple[Subject, ...]  # the bundle's lists
    predicateType: str = PREDICATE  # names this schema; another version has another one
    predicate: Predicate  # the statement itself
    extra: Mapping[str, Any] = field(factory=dict, metadata=NOT_IN_FILE)  # what a newer version wrote; kept

    def dumps(self) -> bytes:
        return (json.dumps(plain(self), indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")

    @classmethod
    def loads(cls, content: bytes) -> Statement:
        """Raises SchemaError."""
        values = parse_json(content)
        kind = values.get("predicateType") if isinstance(values, dict) else None
        if kind != PREDICATE or values.get("_type") != STATEMENT:
            raise SchemaError(f"it is not an in-toto statement of the type {PREDICATE}")
        return structure_newer(cls, values)

    def __str__(self) -> str:
        """What the signer says, in one sentence."""
        said, claim = self.predicate, self.predicate.claim
        runs = f"{counted(claim.runs, 'run')} of the group {claim.group}"
        compared = said.compared
        if said.role == "graded again" and compared:
            return f"I graded {counted(compared.runs, 'submission')} of the group {claim.group} again: the same results"
        if said.role == "ran again" and compared:
            return (
                f"I ran {runs} again (group {compared.group_uid}): in {compared.same_medal} of "
                f"{counted(compared.runs, 'pair')} both or neither earned a medal"
            )
        agents = ", ".join(f"{agent.split(',')[0]}" for agent in claim.agents)
        where = f"{_some(claim.competitions)}, edition {_some(claim.editions)}, {_some(claim.data)} data"
        return (
            f"I ran {runs} ({agents} on {where}, seeds {_some(claim.seeds)}): {claim.graded} graded, "
            f"{claim.valid} valid, {claim.any_medal} with a medal"
        )


def _some(values: Sequence[object]) -> str:
    more = len(values) - _NAMED
    return ", ".join(map(str, values[:_NAMED])) + (f" and {more} more" if more > 0 else "") if values else "none"


def claim_of(folder: Path) -> Claim:
    """Summarise the records in a group's folder. Raises UsageError, DataError as ``open_group`` does."""
    info = open_group(folder).info
    records = [record for record in load_group(folder) if (record.folder / RECORD).is_file()]
    reports = [report for record in records if record.state == "graded" and (report := record.report)]
    return Claim(
        group=info.name,
        group_uid=info.uid,
        group_created_at=info.created_at,
        runs=len(records),
        graded=len(reports),
        valid=sum(report.valid_submission for report in reports),
        any_medal=sum(report.any_medal for report in reports),
        agents=tuple(
            sorted({f"{run.agent.name} {run.agent.version}, source {run.agent.source or '-'}" for run in records})
        ),
        models=tuple(sorted({model_name(run.model) for run in records if run.model})),
        competitions=tuple(sorted({run.competition for run in records})),
        editions=tuple(sorted({run.edition for run in records})),
        data=tuple(sorted({run.data_kind for run in records if run.data_kind})),
        seeds=tuple(sorted({run.seed for run in records})),
    )


def state(bundle: OpenBundle, group: Path, role: Role, compared: Comparison | None = None) -> Statement:
    """The statement about a bundle, whose records are in the folder ``group``."""
    images = {record.image_digest for record in load_group(group) if record.image_digest}
    return Statement(
        subject=subjects(bundle),
        predicate=Predicate(
            role=role,
            stated_at=now(),
            mlecore=version("mlecore"),
            claim=claim_of(group),
            compared=compared,
            attestations=Attestations(images=tuple(sorted(images))),
        ),
    )


def subjects(bundle: OpenBundle) -> tuple[Subject, ...]:
    """A bundle's lists as they are. Raises DataError if one is missing."""
    return tuple(
        Subject(name=name, digest={"sha256": hashlib.sha256(bundle.whole(name, LIST_LIMIT)).hexdigest()})
        for name in (HEAD, FILES)
    )
