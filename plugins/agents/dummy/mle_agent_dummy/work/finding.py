"""What a check of the probe found."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 20


def finding(check: str, bad: Sequence[object], what: str = "", ok: bool | None = None) -> dict[str, object]:
    """``bad``: what an adversary could use; any of it makes the check a bad one, unless ``ok`` decides."""
    detail = what + (", ".join(map(str, bad[:SHOWN])) or "none")
    return {"check": check, "ok": not bad if ok is None else ok, "detail": detail}
