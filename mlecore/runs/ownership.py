"""The owner of a group, and a check that nobody edited its plan.

``group.json`` has a seal over the group's id and its path. A group that was sent, copied or moved does not have the
right seal and is read-only, as its records name jobs and folders to act on; ``mlecore runs adopt`` gives it one.
"""

from __future__ import annotations

import hashlib

from attrs import evolve

from mlecore.errors import UsageError
from mlecore.runs.folders import PLAN
from mlecore.runs.seals import seal
from mlecore.runs.store import Group, write_info


def is_own(group: Group) -> bool:
    """Did this user create or adopt the group at this path on this machine? Raises DataError as ``seal`` does."""
    import hmac

    return hmac.compare_digest(group.info.seal.encode(errors="replace"), seal(group.info.uid, group.folder).encode())


def require_own(group: Group) -> None:
    """Raises UsageError for a group from elsewhere."""
    if not is_own(group):
        raise UsageError(
            f"the group {group.name} comes from another user, machine or folder, so it is read-only",
            fix=f"Check its records (mlecore runs verify {group.name}). If you trust them: "
            f"mlecore runs adopt {group.name}",
        )


def adopt(group: Group) -> None:
    """Make this user the owner of a group at its path. The caller holds its lock. Raises DataError."""
    write_info(group.folder, evolve(group.info, seal=seal(group.info.uid, group.folder)))


def is_own_plan(group: Group) -> bool:
    """Is plan.toml the group's plan, or the one before it, which a kill leaves while runs are added?"""
    digest = hashlib.sha256((group.folder / PLAN).read_bytes()).hexdigest()
    return digest in (group.info.plan, *group.info.earlier_plans[-1:])


def require_own_plan(group: Group) -> None:
    """Raises UsageError if somebody edited plan.toml."""
    if not is_own_plan(group):
        raise UsageError(
            f"{group.folder / PLAN} was edited: it is not the plan of the group's runs",
            fix=f"Restore it. To add runs: mlecore runs resume {group.name} --seeds N --competition ID; for anything "
            "else, start another group: mlecore run --plan FILE",
        )
