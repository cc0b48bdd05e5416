"""From a run's files and its references to findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mle_detector_dolos.comparing import Pair, compare
from mle_detector_dolos.installing import VERSION
from mle_detector_dolos.references import References, of_runs, references_for
from mle_detector_dolos.scripts import Script, handed_out, scripts_of
from mlecore.competitions import Competition
from mlecore.detectors import Detection, Evidence, Finding
from mlecore.errors import MlecoreError
from mlecore.options import boolean
from mlecore.runs.record import RunRecord

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
    alarm = float(options["alarm"])
    own = scripts_of(run)
    ignored = handed_out(public)
    findings, settings = [], {"dolos": VERSION, "files": len(own)}
    try:
        references = references_for(competition, options.get("references"), int(options["notebooks"]))
        settings["references"] = len(references.scripts)
        findings.append(_finding("copied-notebook", "a public notebook", own, references, ignored, alarm))
    except MlecoreError as error:
        why = f"there are no notebooks to compare with: {error.message}"
        findings.append(Finding(rule="copied-notebook", verdict="undecided", summary=why))
    if boolean(options["runs"]):
        others = of_runs(run, group)
        settings["other_runs"] = len(others.scripts)
        findings.append(_finding("copied-run", "another run", own, others, ignored, alarm))
    return Detection(findings=tuple(findings), settings=settings)


def _finding(
    rule: str, what: str, own: Sequence[Script], references: References, ignored: str, alarm: float
) -> Finding:
    if not own or not references.scripts:
        why = "it left no Python code" if not own else references.none
        return Finding(rule=rule, verdict="clean", summary=why)
    pairs = compare(own, references.scripts, ignored)
    details = {
        "alarm": alarm,
        "compared": len(references.scripts),
        "pairs": [pair.to_json() for pair in pairs[:_SHOWN]],
    }
    alike = [pair for pair in pairs if pair.similarity >= alarm]
    if not alike:
        most = f"; at most {pairs[0].similarity:.0%} like {pairs[0].reference.name}" if pairs else ""
        return Finding(rule=rule, verdict="clean", summary=f"its code resembles no other{most}", details=details)
    worst = alike[0]
    return Finding(
        rule=rule,
        verdict="suspicious",
        summary=f"{worst.own.name} is {worst.similarity:.0%} like {what}: {worst.reference.name}",
        confidence=round(worst.similarity, 4),
        evidence=tuple(place for pair in alike[:_SHOWN] for place in _evidence(pair)),
        details=details,
    )


def _evidence(pair: Pair) -> Iterator[Evidence]:
    """The longest fragment, on both sides."""
    (first, last), (other_first, other_last) = pair.fragments[0] if pair.fragments else ((1, 1), (1, 1))
    lines = pair.own.text.split("\n")
    yield Evidence(file=pair.own.name, line=first, last_line=last, quote="\n".join(lines[first - 1 : last])[:_QUOTE])
    theirs = pair.reference.text.split("\n")[other_first - 1 : other_last]
    yield Evidence(
        file=pair.reference.name,
        of=pair.reference.of,
        line=other_first,
        last_line=other_last,
        quote="\n".join(theirs)[:_QUOTE],
    )
