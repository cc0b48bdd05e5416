"""What of an entry is proven, what it only claims, and what nobody can show: one table for every place that says so.

docs/leaderboard.md has the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from mle_ext_sharing.statement import Role

from mle_ext_leaderboard.checking import Check
from mle_ext_leaderboard.results import Results
from mlecore.util.units import counted

Verdict = Literal["proven", "claim", "undecided", "wrong", "not held"]
HEADER = ("what", "is", "by")


def proofs(check: Check) -> Iterator[tuple[str, str, str]]:
    """(what, verdict, by whom or why); nothing for an entry without results."""
    if check.results:
        for what, judge in ROWS.items():
            yield what, *judge(check, check.results)


def _signer(check: Check, _: Results) -> tuple[Verdict, str]:
    if "error" in check.levels("signature"):
        return "wrong", "a signature that is wrong or missing"
    if not check.opened:
        return "undecided", "an export that was not read"
    names = _names(check, "ran")
    return ("proven", f"the signature of {names}") if names else ("claim", "no signature by a known key")


def _files(check: Check, _: Results) -> tuple[Verdict, str]:
    levels = check.levels("hashes")
    if "error" in levels:
        return "wrong", "its hashes"
    if not check.opened or "undecided" in levels:
        return "undecided", "hashes that could not all be compared"
    return ("proven", "hashes in a signed list") if _names(check, "ran") else ("claim", "hashes that nobody signed")


def _scores(check: Check, _: Results) -> tuple[Verdict, str]:
    levels = check.levels("regrading")
    if "error" in levels:
        return "wrong", "grading again here"
    if check.regraded:
        return ("undecided" if "undecided" in levels else "proven"), "grading again here, on your own data"
    names = _names(check, "graded again")
    return "claim", f"its records, and {names} who graded again" if names else "its records; --regrade can prove them"


def _data(check: Check, results: Results) -> tuple[Verdict, str]:
    if check.regraded:
        return _scores(check, results)
    return "claim", f"its records: {results.data}; --regrade compares them with yours"


def _happened(check: Check, _: Results) -> tuple[Verdict, str]:
    if names := _names(check, "ran again"):
        return "claim", f"its records, and {names} who ran the agent again"
    return "not held", "who owns the machine can write any record"


def _selection(_: Check, results: Results) -> tuple[Verdict, str]:
    seeds = "seeds 0, 1, 2 ..." if results.has_first_seeds else "other seeds than 0, 1, 2 ..."
    return "not held", f"{seeds}; runs that were thrown away leave no trace"


def _conditions(_: Check, results: Results) -> tuple[Verdict, str]:
    return "claim", "its records" if results.recorded.network_enforced else "its records; the network was not enforced"


def _cost(_: Check, results: Results) -> tuple[Verdict, str]:
    unknown = results.recorded.unknown_cost
    return "claim", "its records" + (f"; the cost of {counted(unknown, 'run')} is unknown" if unknown else "")


def _findings(_: Check, results: Results) -> tuple[Verdict, str]:
    judged = ", ".join(f"{name} {some} of {of} runs" for name, (some, of) in results.judged.items())
    return ("claim", f"its own findings: {judged}") if judged else ("undecided", "no detector judged it")


def _answers(check: Check, _: Results) -> tuple[Verdict, str]:
    if any(line.verdict == "contradicted" for line in check.lines):
        return "wrong", "its records"
    same = sum(line.verdict == "recorded" for line in check.lines)
    return "claim", f"its records in {same} of {len(check.lines)} answers, its authors in the others"


def _names(check: Check, role: Role) -> str:
    """Names of the known signers with this role."""
    said = (each.signer.name for each in check.signed if each.statement.predicate.role == role)
    return ", ".join(sorted(filter(None, {*said})))


ROWS: dict[str, Callable[[Check, Results], tuple[Verdict, str]]] = {
    "who vouches for it": _signer,
    "files unchanged since then": _files,
    "scores and medals": _scores,
    "kind of data, answers, grader": _data,
    "the runs took place as recorded": _happened,
    "no runs left out, seeds not chosen": _selection,
    "hardware, limits, network": _conditions,
    "cost and time": _cost,
    "findings of detectors": _findings,
    "answers to the questions": _answers,
}
