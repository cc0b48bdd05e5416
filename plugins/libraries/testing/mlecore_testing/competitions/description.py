"""Rule: the description says what the agent must know, and nothing about this machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken, Stop

_SHORTEST = 200  # characters
_MANY = 8  # more columns, or files of one kind, need not all be named
_NO_NAMES = {"mean", "score", "error", "column", "wise", "weighted", "multi", "class", "label", "level", "of", "at"}
_SANDBOX = "data|submission|code|logs|instructions|validate_submission"  # below /home
_LOCAL = re.compile(rf"(?<![\w/.:-])/(?:root|tmp|Users|mnt|var|home/(?!{_SANDBOX}))\b[\w./-]*|[A-Z]:\\\w+")
_SUFFIXES = (  # of data; "numpy.load" names no file
    "7z|aiff?|avi|bmp|bson|csv|dcm|dicom|feather|flac|gif|gz|h5|hdf5|jpe?g|jsonl?|mat|mp[34]|nii|np[yz]|ogg|parquet|"
    "pdf|pkl|png|tar|tfrec|tgz|tiff?|tsv|txt|wav|xml|xyz|zip"
)
_ARCHIVES = (".7z", ".gz", ".tar", ".tgz", ".zip")
_FILE = re.compile(rf"`([^`\n]*[^`\n/.]\.(?:{_SUFFIXES}))`")


def description(harness: Harness) -> Iterator[Broken]:
    try:
        text = harness.facts.description
    except (OSError, UnicodeDecodeError) as error:
        raise Stop(f"description.md cannot be read: {error}") from None
    yield from says_enough(text, harness.facts.metric, "description.md")


def description_fits(harness: Harness) -> Iterator[Broken]:
    yield from fits(harness.facts.description, harness, "description.md")


def says_enough(text: str, metric: str, file: str) -> Iterator[Broken]:
    if len(text) < _SHORTEST:
        yield Broken(f"it has {len(text)} characters: too few to say task, data, metric and format", file)
    if not _names_metric(text, metric):
        yield Broken(f"it does not name the metric, {metric}", file)
    for found in dict.fromkeys(_LOCAL.findall(text)):
        yield Broken(f"it names a folder of this machine: {found}", file)


def fits(text: str, harness: Harness, file: str) -> Iterator[Broken]:
    header = harness.grid.header
    named = header if len(header) <= _MANY else header[:2]
    for column in named:
        if column not in text:
            yield Broken(f"it does not name the submission's column {column!r}", file)
    entries = sorted(entry for entry in harness.public.iterdir() if entry.name != "description.md")
    alike = Counter(entry.suffix for entry in entries)
    for entry in entries:
        if alike[entry.suffix] <= _MANY and entry.name not in text:
            yield Broken(f"it does not name {entry.name}, which the agent gets", file)
    for name in _missing(text, harness.names):
        yield Broken(f"it names {name}, which is missing from the public data", file)


def _missing(text: str, public: list[str]) -> Iterator[str]:
    """Files that the text names, ``images/<id>.png`` too, and that are in no folder or archive of the public data.

    Of kinds of which there are many, single names are examples that synthetic data need not have. Archives in archives
    may hold anything.
    """
    if any("!" in name and name.endswith(_ARCHIVES) for name in public):
        return
    paths = [name.replace("!", "/") for name in public]
    alike = Counter(PurePosixPath(path).suffix for path in paths)
    for name in dict.fromkeys(_FILE.findall(text)):
        if name == "submission.csv" or ("<" not in name and alike[PurePosixPath(name).suffix] > _MANY):
            continue
        pattern = "*/" + re.sub(r"<[^>]*>", "*", name.removeprefix("./").replace("[", "[[]"))
        if not any(fnmatchcase(path, pattern) for path in paths):
            yield name


def _names_metric(text: str, metric: str) -> bool:
    """A characteristic word of the metric's name, or what its letters mean: "root mean squared error" for rmse."""
    text = text.lower()
    words = re.findall(r"[a-z0-9.]+", metric.lower())
    initials = "".join(word[0] for word in re.findall(r"[a-z]+", text))
    return any(
        word in text or (len(word) > 2 and word.isalpha() and word in initials)
        for word in words
        if len(word) > 1 and word not in _NO_NAMES
    )
