"""Rule: the obfuscated description says what the task is, and nothing that tells which competition it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlecore.errors import MlecoreError
from mlecore.model.facts import OBFUSCATED_DESCRIPTION, Facts
from mlecore_testing.competitions.description import fits, says_enough
from mlecore_testing.competitions.harness import Harness
from mlecore_testing.rules import Broken, Stop, Undecided

# Words of titles that any task may use; all others give a competition away.
_GENERAL = frozenset(
    "3d and answer audio bias categorization category challenge class classification classifying code collection "
    "data dataset deep demo detect detecting detection edition evaluation example explore extraction for from "
    "global group identification identify image images imputation label labeling learning line listen matching "
    "modal multi new object part phrase position predict predicting prediction properties property public question "
    "recognition recommendation reduce redux research right score scoring screening search segmentation series set "
    "signal single system table tabular tagging test text the top train training translation try understand visual "
    "with word".split()
)
_ALWAYS = ("kaggle", "medal", "leaderboard", "competition", "contest")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_LINK = re.compile(r"https?://\S+|\bwww\.\S+", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d,.])(?:19[5-9]\d|20[0-3]\d)(?![\d,.]*\d)")
_HEAD = 1 << 16  # bytes of each public text file in which the data's own words are looked for
_TEXT = (".csv", ".json", ".jsonl", ".tsv", ".txt")


def obfuscated(harness: Harness) -> Iterator[Broken]:
    facts = harness.facts
    try:
        text = facts.obfuscated_description
    except (OSError, UnicodeDecodeError) as error:
        raise Stop(f"{OBFUSCATED_DESCRIPTION} cannot be read: {error}") from None
    except MlecoreError as error:
        raise (Stop if (facts.folder / OBFUSCATED_DESCRIPTION).exists() else Undecided)(error.message) from None
    yield from says_enough(text, facts.metric, OBFUSCATED_DESCRIPTION)
    yield from fits(text, harness, OBFUSCATED_DESCRIPTION)
    yield from signs(text, facts, _said_by(harness))


def signs(text: str, facts: Facts, data: str) -> Iterator[Broken]:
    """What gives the competition away. ``data``: names and words of the public data, which may stand in code only."""
    prose = _CODE.sub(" ", text)
    for found in dict.fromkeys((*_LINK.findall(text), *_YEAR.findall(prose))):
        yield Broken(f"it has {found!r}, a link or a year", OBFUSCATED_DESCRIPTION)
    for word in telling(facts):
        pattern = spelled(word)
        if pattern.search(prose) or pattern.search(facts.metric.replace("-", " ")):
            yield Broken(f"it says {word!r}", OBFUSCATED_DESCRIPTION)
        elif pattern.search(text) and not pattern.search(data):
            yield Broken(f"its code says {word!r}, which the public data do not", OBFUSCATED_DESCRIPTION)


def telling(facts: Facts) -> list[str]:
    """Words that must not occur: those of id and title but for general ones, those of competition.toml, and a few."""
    words = re.findall(r"[^\W_]{3,}", f"{facts.id} {facts.title} {facts.kaggle or ''}".lower())
    own = [word for word in words if _stem(word) not in _STEMS and not word.isdigit()]
    return list(dict.fromkeys((*_ALWAYS, *own, *(word.lower() for word in facts.obfuscated.words))))


def spelled(word: str) -> re.Pattern[str]:
    """The word as a whole, in singular and plural; parts of names count as words (``has_cactus``)."""
    return re.compile(rf"(?<![^\W_]){re.escape(_stem(word))}(?:e?s)?(?![^\W_])", re.IGNORECASE)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_STEMS: Iterable[str] = frozenset(map(_stem, _GENERAL))


def _said_by(harness: Harness) -> str:
    return "\n".join((*harness.names, harness.sample[:_HEAD].decode(errors="replace"), words_of_data(harness.public)))


def words_of_data(public: Path) -> str:
    """Names of public files and the beginnings of texts, without the descriptions."""
    parts = []
    for path in sorted(public.rglob("*")):
        parts.append(path.relative_to(public).as_posix())
        if path.suffix in _TEXT and path.is_file():
            with path.open("rb") as file:
                parts.append(file.read(_HEAD).decode(errors="replace"))
    return "\n".join(parts)
