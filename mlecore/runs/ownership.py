"""Who owns a group. A group from elsewhere is read-only: its records name jobs, folders and data to act on.

``group.json`` has a seal over the group's id and its place. A group that was sent, copied or moved does not have the
right seal; ``mlecore runs adopt`` gives it one.
"""

from __future__ import annotations

from attrs import evolve

from mlecore.errors import UsageError
from mlecore.runs.seals import seal
from mlecore.runs.store import Group, write_info


def is_own(group: Group) -> bool:
    """Was it made, or adopted, in this place by this user on this machine? Raises DataError as ``seal`` does."""
    import hmac

    return hmac.compare_digest(group.info.seal.encode(errors="replace"), seal(group.info.uid, group.folder).encode())


def require_own(group: Group) -> None:
    """Raises UsageError for a group from elsewhere."""
    if not is_own(group):
        raise UsageError(
            f"the group {group.name} was made by another user, on another machine or in another place: it is read-only",
            fix=f"If its records are to be trusted, look at them (mlecore runs verify {group.name}), "
            f"then: mlecore runs adopt {group.name}",
        )


def adopt(group: Group) -> None:
    """Make the user the owner of a group, where it is. The caller holds its lock. Raises DataError."""
    write_info(group.folder, evolve(group.info, seal=seal(group.info.uid, group.folder)))
