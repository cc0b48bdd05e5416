"""Globs as fetch() takes them: ``logs``, ``submission/*.csv``, ``logs/**/best.csv``."""

from __future__ import annotations

import re
from fnmatch import translate
from pathlib import PurePosixPath


class Glob:
    """One of them, relative to home; a folder that it names brings what is below. Raises ValueError for other paths."""

    def __init__(self, text: str) -> None:
        parts = PurePosixPath(text).parts
        if not parts or parts[0] == "/" or ".." in parts:
            raise ValueError("no path below home")
        plain = 0
        while plain < len(parts) and not re.search(r"[*?\[]", parts[plain]):
            plain += 1
        self.prefix = PurePosixPath(*parts[:plain])  # without any sign of a glob: where to look
        self._parts = tuple(None if part == "**" else re.compile(translate(part)) for part in parts)

    def matches(self, path: PurePosixPath) -> bool:
        """Is ``path`` what it names, or below that?"""
        places = {0}  # how many parts of the glob the parts so far can stand for
        for name in path.parts:
            places = self._beyond(places)
            if len(self._parts) in places:
                return True
            step = set()
            for place in places:
                part = self._parts[place]
                if part is None:
                    step.add(place)
                elif part.fullmatch(name):
                    step.add(place + 1)
            places = step
        return len(self._parts) in self._beyond(places)

    def _beyond(self, places: set[int]) -> set[int]:
        """``**`` stands for nothing, too."""
        out = set()
        for place in places:
            out.add(place)
            while place < len(self._parts) and self._parts[place] is None:
                place += 1
                out.add(place)
        return out
