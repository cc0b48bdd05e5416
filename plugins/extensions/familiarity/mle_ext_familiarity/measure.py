"""A model's familiarity with a competition: its text, against the obfuscated description."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from mle_ext_familiarity.probability import Endpoint, mean_probability
from mlecore.competitions import competition
from mlecore.errors import UsageError

_SUFFIXES = (".md", ".txt", ".html")
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)


@frozen(kw_only=True)
class Familiarity:
    """Mean probabilities of tokens, from 0 to 1."""

    competition: str
    text: float  # of the text that the user gave
    control: float  # of the obfuscated description
    tokens: int  # of the text that were counted
    position: float | None = None  # of the groups' runs, from 0 (the sample submission) to 1 (gold)

    @property
    def difference(self) -> float:
        return self.text - self.control


def texts_of(folder: Path, wanted: Sequence[str]) -> dict[str, Path]:
    """Competition -> its text; all that the folder has if none is named. Raises UsageError for a missing one."""
    from mlecore.competitions import installed

    there = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix in _SUFFIXES and path.is_file()}
    known = [found.id for found in installed() if found.id in there]
    if missing := [id for id in wanted if id not in there]:
        raise UsageError(
            f"{folder} has no text of {', '.join(missing[:3])}",
            fix=f"Save its page as {folder / missing[0]}.md, .txt or .html.",
        )
    chosen = list(dict.fromkeys(wanted)) or known
    if not chosen:
        raise UsageError(f"{folder} has no text of an installed competition", fix="Name texts <id>.md, .txt or .html.")
    return {id: there[id] for id in chosen}


def measure(endpoint: Endpoint, id: str, path: Path, position: float | None = None) -> Familiarity:
    """Raises EndpointError; UsageError for a competition without an obfuscated description, or an unreadable text."""
    control, _ = mean_probability(endpoint, competition(id).facts.obfuscated_description)
    text, tokens = mean_probability(endpoint, read_text(path))
    return Familiarity(competition=id, text=text, control=control, tokens=tokens, position=position)


def read_text(path: Path) -> str:
    """A text; of HTML what a reader sees. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    if path.suffix == ".html":
        text = re.sub(r"\n\s*\n+", "\n\n", html.unescape(_UNSEEN.sub(" ", text))).strip()
    if not text.strip():
        raise UsageError(f"{path} has no text")
    return text
