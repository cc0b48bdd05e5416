"""An entry's own words: ``entry.toml``, with the fixed form of disclosures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from attrs import field, frozen

from mlecore.util.schema import SchemaError, read_toml, structure

FILE = "entry.toml"
SIGNED = "signed"
_LONGEST = 500  # characters of a text
_MOST = 50  # items of a list
_FILE_LIMIT = 64 * 1024  # bytes of an entry.toml

Web = Literal["none", "limited", "open"]


@frozen(kw_only=True)
class Disclosures:
    """What every entry says, in the same form. ``check`` compares each line with the records."""

    hidden_scores: bool  # were scores on the hidden test set used, in development or to choose runs?
    human_help: bool  # did anybody help the agent during a run?
    outside_data: bool  # did it use data from elsewhere?
    knowledge_base: bool  # did it use a knowledge base, or solutions of competitions?
    web: Web  # during a run; limited: allowed hosts, MCP servers, or tools of the model's provider
    competition_prompts: bool  # were prompts or options written for single competitions?
    hardware: str  # per run, as `mlecore report` shows it: "8 CPUs, 1 x NVIDIA A10"
    hours: float  # time limit per run
    seeds: tuple[int, ...]  # all that were run, also those that failed
    comment: str = ""  # whatever helps to understand the above


@frozen(kw_only=True)
class Export:
    """Where the signed export is."""

    file: str = ""  # its name in the entry's folder: a .zip or a folder
    address: str = ""  # https address, if it is kept elsewhere
    sha256: str  # of its bundle.json, which has the hashes of all files

    @property
    def signed(self) -> str:
        """In the entry's folder: the export, or what of one that is kept elsewhere is needed to see who signed it."""
        return self.file or SIGNED


@frozen(kw_only=True)
class Entry:
    """entry.toml. A result has an export; a correction, too, and names the entry that it replaces; a retraction has
    none."""

    authors: tuple[str, ...]  # people or teams
    date: str  # of the entry: 2026-01-31
    agent: str = ""  # its name
    version: str = ""  # of the agent
    models: tuple[str, ...] = ()  # that it worked with
    links: Mapping[str, str] = field(factory=dict)  # word -> https address: source, paper, site
    export: Export | None = None  # the runs
    disclosures: Disclosures | None = None  # the fixed form
    corrects: str = ""  # name of the entry that this one replaces
    retracts: str = ""  # name of the entry that is withdrawn
    reason: str = ""  # of a correction or retraction

    @property
    def kind(self) -> Literal["result", "correction", "retraction"]:
        return "retraction" if self.retracts else "correction" if self.corrects else "result"

    @property
    def about(self) -> str:
        """The entry that it corrects or retracts."""
        return self.corrects or self.retracts


def read_entry(folder: Path) -> Entry:
    """Raises SchemaError that says what is wrong."""
    path = folder / FILE
    try:
        entry = structure(Entry, read_toml(path, _FILE_LIMIT, below=folder))
    except FileNotFoundError:
        raise SchemaError(f"{path} is missing") from None
    except OSError as error:
        raise SchemaError(f"{path} cannot be read: {error.strerror}") from None
    except SchemaError as error:
        raise SchemaError(f"{path}: {error.message.removeprefix(f'{path}: ')}") from None
    if problems := list(_problems(entry)):
        raise SchemaError(f"{path}: {'; '.join(problems[:3])}")
    return entry


def _problems(entry: Entry) -> Iterator[str]:
    yield from _texts(entry)
    try:
        if date.fromisoformat(entry.date).isoformat() != entry.date:
            raise ValueError
        if entry.date > (datetime.now(UTC).date() + timedelta(days=1)).isoformat():  # a day: time zones
            yield "date: it is in the future"
    except ValueError:
        yield "date: write it as 2026-01-31"
    for name, address in entry.links.items():
        if not re.fullmatch(r"[a-z][a-z -]{0,19}", name) or not is_https(address):
            yield f"links.{name[:20]}: expected a word and an https address"
    if entry.corrects and entry.retracts:
        yield "corrects and retracts cannot be used together"
    if entry.about and not entry.reason:
        yield "reason is missing"
    if entry.kind == "retraction":
        if entry.export or entry.disclosures:
            yield "a retraction has neither export nor disclosures"
        return
    for needed in ("agent", "version", "export", "disclosures"):
        if not getattr(entry, needed):
            yield f"{needed} is missing"
    if entry.export:
        yield from _export_problems(entry.export)
    if entry.disclosures:
        hours = entry.disclosures.hours
        if not (math.isfinite(hours) and 0 < hours < 10_000):
            yield "disclosures.hours: expected a number of hours"


def _texts(entry: Entry) -> Iterator[str]:
    texts = [*entry.authors, *entry.models, entry.agent, entry.version, entry.reason]
    if entry.disclosures:
        texts += [entry.disclosures.hardware, entry.disclosures.comment]
    if any(len(text) > _LONGEST or not text.isprintable() for text in texts):
        yield f"a text has more than {_LONGEST} characters, or control characters"
    long = [name for name in ("authors", "models", "links") if len(getattr(entry, name)) > _MOST]
    yield from (f"{name}: at most {_MOST}" for name in long)
    if not entry.authors:
        yield "authors is empty"


def _export_problems(export: Export) -> Iterator[str]:
    if bool(export.file) == bool(export.address):
        yield "export: give either file or address"
    if export.file and not re.fullmatch(r"\w[\w.-]{0,99}", export.file):
        yield "export.file: expected the name of a file in the entry's folder"
    if export.address and not is_https(export.address):
        yield "export.address: expected an https address"
    if not re.fullmatch(r"[0-9a-f]{64}", export.sha256):
        yield "export.sha256: expected 64 hexadecimal digits"


def is_https(address: str) -> bool:
    """Is it a plain https address, without a password?"""
    try:
        parts = urlsplit(address)
        return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and len(address) <= _LONGEST
    except ValueError:
        return False
