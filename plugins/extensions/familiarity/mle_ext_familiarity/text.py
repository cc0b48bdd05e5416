"""The mean probability of the tokens of a competition's page, against the obfuscated description."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mle_ext_familiarity.calls import Calls
from mle_ext_familiarity.measured import Measured
from mlecore.errors import UsageError
from mlecore.plugins.competitions import competition

PIECE = 4000  # characters that are sent at once
_SUFFIXES = (".md", ".txt", ".html")
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)


def measure(calls: Calls, id: str, text: str) -> Measured:
    """Raises EndpointError; UsageError for a competition without an obfuscated description."""
    control, _ = mean_probability(calls, competition(id).facts.obfuscated_description)
    value, tokens = mean_probability(calls, text)
    return Measured(competition=id, measure="text", value=value, base=control, count=tokens)


def mean_probability(calls: Calls, text: str) -> tuple[float, int]:
    """The mean of the tokens' probabilities, and of how many. Raises EndpointError.

    Each piece is asked for by itself; its first token has no probability and is not counted.
    """
    values = [value for piece in pieces(text) for value in calls.log_probabilities(piece)]
    return math.fsum(map(math.exp, values)) / len(values), len(values)


def pieces(text: str, longest: int = PIECE) -> Iterator[str]:
    """Cut at line ends where possible, without blank pieces."""
    piece = ""
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), longest):
            part = line[start : start + longest]
            if piece and len(piece) + len(part) > longest:
                yield piece
                piece = ""
            piece += part
    if piece.strip():
        yield piece


def texts_of(folder: Path, wanted: Sequence[str]) -> dict[str, Path]:
    """Competition -> its text; all that the folder has if none is named. Raises UsageError for a missing one."""
    from mlecore.plugins.competitions import all_competitions

    there = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in _SUFFIXES and path.is_file()}
    known = [found.id for found in all_competitions() if found.id in there]
    if missing := [id for id in wanted if id not in there]:
        raise UsageError(
            f"{folder} has no text of {', '.join(missing[:3])}",
            fix=f"Save its page as {folder / missing[0]}.md, .txt or .html, or take Kaggle's with --kaggle.",
        )
    chosen = list(dict.fromkeys(wanted)) or known
    if not chosen:
        raise UsageError(f"{folder} has no text of an installed competition", fix="Name texts <id>.md, .txt or .html.")
    return {id: there[id] for id in chosen}


def read_text(path: Path) -> str:
    """A text; of HTML what a reader sees. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    text = visible(text) if path.suffix == ".html" else text
    if not text.strip():
        raise UsageError(f"{path} has no text")
    return text


def visible(page: str) -> str:
    """What a reader sees of HTML."""
    return re.sub(r"\n\s*\n+", "\n\n", html.unescape(_UNSEEN.sub(" ", page))).strip()
