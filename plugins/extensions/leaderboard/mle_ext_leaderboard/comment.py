"""What was found as a Markdown comment on a pull request, and as lines on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mle_ext_report.cells import one_line
from mle_ext_report.export import markdown_table
from mle_ext_sharing.signed import Signed

from mle_ext_leaderboard.checking import Check
from mle_ext_leaderboard.proofs import HEADER, proofs
from mle_ext_leaderboard.rules import Remark

_VERDICTS = {0: "accepted", 1: "**rejected**", 3: "**undecided**"}
_LONGEST = 1000  # characters of a cell
_ORDER = ("error", "undecided", "warning", "note")
_MEANING = {
    "recorded": "the records say the same",
    "claim": "a claim: no record can tell",
    "contradicted": "contradicted by the records",
}


def markdown(checks: Sequence[Check], remarks: Sequence[Remark] = ()) -> str:
    """All entries of a pull request; what others wrote is escaped."""
    parts = ["## Leaderboard check"]
    if remarks:
        parts.append(_remarks(remarks))
    if not checks:
        parts.append("There is no entry to check.")
    for check in checks:
        kind = f" ({check.entry.kind})" if check.entry else ""
        parts.append(f"### `{check.name.replace('`', '')}`{kind}: {_VERDICTS[check.exit_code]}")
        if check.remarks:
            parts.append(_remarks(check.remarks))
        if check.signed:
            parts.append(_table(["signed", "what the signer says"], map(_signed, check.signed)))
        if check.results:
            parts.append(_table(HEADER, proofs(check)))
        if check.lines:
            rows = [(line.name, line.claimed, _MEANING[line.verdict], line.records) for line in check.lines]
            parts.append(_table(["disclosure", "the entry", "verdict", "the records"], rows))
    return "\n\n".join(parts) + "\n"


def _signed(signed: Signed) -> tuple[str, str]:
    return str(signed.signer), str(signed.statement)


def _remarks(remarks: Sequence[Remark]) -> str:
    rows = [(remark.level, remark.check, remark.words) for remark in ordered(remarks)]
    return _table(["", "check", "found"], rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_table(header, [[one_line(cell)[:_LONGEST] for cell in row] for row in rows])


def ordered(remarks: Sequence[Remark]) -> list[Remark]:
    """The worst first."""
    return sorted(remarks, key=lambda remark: _ORDER.index(remark.level))
