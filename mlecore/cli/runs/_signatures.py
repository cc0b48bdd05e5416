"""What `mlecore runs verify` does with the signatures of a bundle."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from mlecore.cli._shared import echo


def check_signatures(bundle: Path, group: Path, allowed: Path | None, key: Path | None) -> bool:
    """Print who says what; whether all signatures are good, and there is one if the caller named signers."""
    from mlecore.sharing.bundle import OpenBundle
    from mlecore.sharing.signed import NOT_PROVED, absent, read_signatures
    from mlecore.sharing.ssh_signatures import allowed_key
    from mlecore.units import first

    with OpenBundle(bundle) as source, allowed_key(key) if key else nullcontext(allowed) as signers:
        found = read_signatures(source, group, signers)
    for line in first(found.wrong):
        echo(line)
    for signed in found.signed:
        echo(str(signed))
        echo(f"  Others vouch for: {absent(signed.statement.predicate.attestations)}")
    if found.signed:
        if signers is None:
            echo("Whose keys these are is unknown: name them with --allowed-signers or --key.")
        echo(NOT_PROVED)
    elif not found.wrong:
        echo("Nobody has signed it." + (" A signature was demanded." if signers else ""))
    return not found.wrong and bool(found.signed or signers is None)


def countersign(bundle: Path, group: Path, key: Path, regraded: int, rerun: Path | None, allowed: Path | None) -> None:
    """Add the signature of a second party that graded the submissions again, or ran the group again."""
    from mlecore.errors import UsageError
    from mlecore.sharing.rerun import compare
    from mlecore.sharing.signed import add_signature
    from mlecore.sharing.statement import Comparison

    if rerun is None:
        if not regraded:
            raise UsageError("no run was graded again, so there is nothing to sign")
        statement = add_signature(bundle, group, key, "graded again", Comparison(runs=regraded), allowed)
    else:
        statement = add_signature(bundle, group, key, "ran again", compare(group, rerun), allowed)
    echo(f"Signed: {statement}")
