"""The signed statement of a correction or retraction: only who signed an entry may replace or withdraw it.

``statement.json`` names both entries with their exports, and the reason; ``statement.json.sig`` is an SSH signature
by a key that signed the old export as the one that ran it. So neither serves for anything else.
"""

from __future__ import annotations

import json
from pathlib import Path

from mle_ext_sharing import ssh_signatures
from mle_ext_sharing.bundle import OpenBundle
from mle_ext_sharing.signed import read_signatures

from mle_ext_leaderboard.board import Board
from mle_ext_leaderboard.entry import Entry
from mlecore.errors import DataError, UsageError
from mlecore.util.regular import read_regular

FILE = "statement.json"
SIGNATURE = f"{FILE}.sig"
_KIND = "urn:mlecore:leaderboard:statement:v1"  # no signature of anything else is one of a statement


def sign(
    board: Board, key: Path, name: str, *, corrects: str = "", retracts: str = "", reason: str, export: str = ""
) -> dict[str, bytes]:
    """File -> content for the entry ``name``, which corrects or retracts another.

    ``export``: SHA-256 of its bundle.json. Raises UsageError if the key did not sign the old entry, DataError if that
    cannot be read.
    """
    content = _dumps(board, name, corrects, retracts, reason, export)
    signature = ssh_signatures.sign(content, key)
    signer = ssh_signatures.signer_of(content, signature, None)
    if signer.key not in signers(board, about := corrects or retracts):
        fix = "Give --sign the key that its export was signed with."
        raise UsageError(f"the {signer.key} did not sign the entry {about}", fix=fix)
    return {FILE: content, SIGNATURE: signature}


def require_statement(board: Board, name: str, entry: Entry) -> None:
    """Raises DataError if no signer of the old entry has signed this correction or retraction as it is now."""
    folder = board.entry_folder(name)
    try:
        content, signature = (
            read_regular(folder / file, ssh_signatures.LIMIT, below=folder) for file in (FILE, SIGNATURE)
        )
    except FileNotFoundError:
        why = f"{FILE} or its signature is missing: who signed {entry.about} must sign its {entry.kind} (--sign)"
        raise DataError(why) from None
    except OSError as error:
        raise DataError(f"{FILE} or its signature cannot be read: {error.strerror}") from None
    export = entry.export.sha256 if entry.export else ""
    if content != _dumps(board, name, entry.corrects, entry.retracts, entry.reason, export):
        raise DataError(f"{FILE} is not that of this {entry.kind}: entries, exports and reason must be the same")
    signer = ssh_signatures.signer_of(content, signature, board.allowed)
    if signer.key not in signers(board, entry.about):
        raise DataError(f"{signer} signed this {entry.kind}, but not the entry {entry.about}")


def _dumps(board: Board, name: str, corrects: str, retracts: str, reason: str, export: str) -> bytes:
    old = board.entry(corrects or retracts).export
    values = {"kind": _KIND, "entry": name, "export": export, "corrects": corrects, "retracts": retracts}
    values |= {"old_export": old.sha256 if old else "", "reason": reason}
    return (json.dumps(values, indent=1) + "\n").encode()


def signers(board: Board, name: str) -> frozenset[str]:
    """Keys that signed an entry's export as the one that ran it. Raises DataError, UsageError if it cannot be read."""
    entry = board.entry(name)
    if entry.export is None:
        raise DataError(f"{name} has no export")
    with OpenBundle(board.export(name, entry.export.signed), entry.export.sha256) as export:
        return frozenset(each.signer.key for each in read_signatures(export, None, board.allowed).by("ran"))
