"""Connections that a run's relay rejected, from the relay's own log."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from mlecore.errors import DataError
from mlecore.util.regular import open_regular

MOST = 20  # hosts that a record names; the others are counted together
OTHERS = "others"


def relay_refusals(log: Path) -> dict[str, int]:
    """Rejected connections by "host:port", most frequent first; empty if there is no log. Skips lines that are not
    JSON: an agent chooses the names of hosts, but the relay writes the lines."""
    found: Counter[str] = Counter()
    try:
        with os.fdopen(open_regular(log, below=log.parent.parent), "r", errors="replace") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                    verdict, host, port = entry.get("verdict"), entry.get("host"), entry.get("port")
                except (ValueError, RecursionError, AttributeError):
                    continue
                if str(verdict).startswith("refused"):
                    found[f"{str(host)[:253]}:{port}"] += 1
    except (OSError, DataError):
        return {}
    listed = dict(found.most_common(MOST))
    rest = found.total() - sum(listed.values())
    return {**listed, OTHERS: rest} if rest else listed


def refusal_words(refused: Mapping[str, int]) -> str:
    """The rejected hosts on one line; empty if there are none."""
    if not refused:
        return ""
    total = sum(refused.values())
    hosts = ", ".join(list(refused)[:3]) + (" ..." if len(refused) > 3 else "")
    return f"the relay rejected {total} connection{'' if total == 1 else 's'} ({hosts})"
