"""Seals of groups, computed with a key that only this user has on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from mlecore.errors import DataError
from mlecore.util import files


def state_folder() -> Path:
    """mlecore's folder for this user: ``MLECORE_STATE``, or the user's state folder."""
    given = os.environ.get("MLECORE_STATE")
    if given:
        return Path(given).absolute()
    from platformdirs import user_state_path

    return user_state_path("mlecore", appauthor=False)


def seal(uid: str, folder: Path) -> str:
    """The seal of a group at this path. Raises DataError if this user's key cannot be stored."""
    import hmac

    return hmac.digest(
        user_key(), f"{uid}\0{os.path.realpath(folder)}".encode("utf-8", "surrogateescape"), "sha256"
    ).hex()


def user_key() -> bytes:
    """This user's own key on this machine, created on first use. Raises DataError."""
    path = state_folder() / "key"
    try:
        return files.random_secret(path)
    except (OSError, DataError) as error:
        raise DataError(
            f"the key that marks your groups cannot be stored in {path}: {error}",
            fix="Set MLECORE_STATE to a writable folder. If the key is damaged, remove it; then mlecore runs adopt",
        ) from None
