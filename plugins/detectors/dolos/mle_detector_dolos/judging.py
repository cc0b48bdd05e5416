"""From a run's files and its references to findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve

from mle_detector_dolos.comparing import Pair, compare
from mle_detector_dolos.installing import VERSION
from mle_detector_dolos.references import References, of_runs, references_for
from mle_detector_dolos.scripts import Script, handed_out, scripts_of
from mlecore.errors import MlecoreError
from mlecore.model.competition import Competition
from mlecore.model.detectors import Detection, Evidence, Finding, NotRead
from mlecore.model.options import boolean
from mlecore.model.record import RunRecord

_SHOWN = 10  # pairs of a finding
_QUOTE = 400  # characters


def judge(
    run: RunRecord,
    group: Sequence[RunRecord],
    competition: Competition,
    public: Path | None,
    options: Mapping[str, str],
) -> Detection:
    """One finding for notebooks, and one for other runs if those are compared."""
    threshold = float(options["threshold"])
    not_read: list[NotRead] = []
    own = scripts_of(run, not_read)
    ignored = handed_out(public)
    findings, settings = [], {"dolos": VERSION, "scripts": len(own)}
    try:
        references = references_for(competition, options.get("references"), int(options["notebooks"]))
        settings["references"] = len(references.scripts)
        findings.append(_finding("copied-notebook", "a public notebook", own, references, ignored, threshold))
    except MlecoreError as error:
        why = f"there are no notebooks to compare with: {error.message}"
        findings.append(Finding(rule="copied-notebook", verdict="undecided", summary=why))
    if boolean(options["runs"]):
        others = of_runs(run, group)
        settings["other_runs"] = len(others.scripts)
        findings.append(_finding("copied-run", "another run", own, others, ignored, threshold))
    decided = tuple(_undecided(finding, not_read) for finding in findings)
    return Detection(findings=decided, not_read=tuple(not_read), settings=settings)


def _undecided(finding: Finding, not_read: Sequence[NotRead]) -> Finding:
    """A finding is not clean if some code was not read."""
    if finding.verdict != "clean" or not not_read:
        return finding
    why = f"not all code could be read: {not_read[0].file} ({not_read[0].why}); in the rest, {finding.summary}"
    return evolve(finding, verdict="undecided", summary=why)


def _finding(
    rule: str, what: str, own: Sequence[Script], references: References, ignored: str, threshold: float
) -> Finding:
    if not own:
        return Finding(rule=rule, verdict="undecided", summary="the run left no Python code to compare")
    if not references.scripts:
        return Finding(rule=rule, verdict=references.verdict, summary=references.none)
    pairs = compare(own, references.scripts, ignored)
    details = {
        "threshold": threshold,
        "compared": len(references.scripts),
        "pairs": [pair.to_json() for pair in pairs[:_SHOWN]],
    }
    alike = [pair for pair in pairs if pair.similarity >= threshold]
    if not alike:
        most = f"; at most {pairs[0].similarity:.0%} like {pairs[0].reference.name}" if pairs else ""
        return Finding(rule=rule, verdict="clean", summary=f"its code resembles no other{most}", details=details)
    worst = alike[0]
    return Finding(
        rule=rule,
        verdict="suspicious",
        summary=f"{_called(worst.own)} {worst.similarity:.0%} like {what}: {worst.reference.name}",
        confidence=round(worst.similarity, 4),
        evidence=tuple(place for pair in alike[:_SHOWN] for place in _evidence(pair)),
        details=details,
    )


def _evidence(pair: Pair) -> Iterator[Evidence]:
    """The longest fragment, on both sides."""
    (first, last), (other_first, other_last) = pair.fragments[0] if pair.fragments else ((1, 1), (1, 1))
    yield _own_evidence(pair.own, first, last)
    theirs = pair.reference.text.split("\n")[other_first - 1 : other_last]
    yield Evidence(
        file=pair.reference.name,
        of=pair.reference.of,
        line=other_first,
        last_line=other_last,
        quote="\n".join(theirs)[:_QUOTE],
    )


def _own_evidence(own: Script, first: int, last: int) -> Evidence:
    """Where it stands in the run. Code in a string or a text is not there line by line: its beginning is named."""
    part, line = own.place(first)
    if part.line is not None:
        return Evidence(file=part.name, line=part.line)
    lines = part.text.split("\n")
    last = min(line + last - first, len(lines))
    return Evidence(file=part.name, line=line, last_line=last, quote="\n".join(lines[line - 1 : last])[:_QUOTE])


def _called(own: Script) -> str:
    if own.parts:
        return f"{own.name} together are"
    return f"code in {own.name}, line {own.line}, is" if own.line is not None else f"{own.name} is"
