"""Does `mlecore audit` name the known answers and leaks of edition v1, and find none in v2? On synthetic data.

    python benchmarks/audit_flaws.py                                 every competition and edition, some 15 CPU minutes
    python benchmarks/audit_flaws.py spaceship-titanic --json FILE   with all findings, a line of JSON for each edition

Prints a line for each edition, then a table of what was known. Exit code 1 if a known flaw is missed, or an answer or
leak is found that is not known. The check `grader` is left out unless asked for: it
finds cautions only, and takes a minute where grading is slow.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from attrs import define
from mlecore_audit.finding import Finding
from mlecore_audit.run import findings, ordered, unexamined
from mlecore_audit.subject import Subject

import mlecore
from mlecore.data.prepared import Prepared
from mlecore.data.scatter import scatter_links
from mlecore.registry.discovery import plugins

CHECKS = ("answers", "tells", "twins", "groups", "labels")
SERIOUS = ("answer", "leak")
KNOWN = {  # competition -> the kind of finding that names its flaw in v1, and a word of its evidence
    "bms-molecular-translation": ("values", "InChI"),
    "cassava-leaf-disease-classification": ("values", "target"),
    "denoising-dirty-documents": ("pixels", "pixels"),
    "facebook-recruiting-iii-keyword-extraction": ("twins", "same values"),
    "google-quest-challenge": ("twins", "question_body"),
    "hubmap-kidney-segmentation": ("outlines", "masks"),
    "movie-review-sentiment-analysis-kernels-only": ("groups", "'SentenceId'"),
    "multi-modal-gesture-recognition": ("values", "Labels"),
    "random-acts-of-pizza": ("values", "giver_username_if_known"),
    "seti-breakthrough-listen": ("twins", "old_leaky_data"),
    "siim-isic-melanoma-classification": ("values", "target"),
    "smartphone-decimeter-2022": ("values", "of the answers"),
    "spaceship-titanic": ("groups", "part 1 of ids"),
}
ELSEWHERE = ("optical-digits",)  # its labels are public, but not in its own files


@define
class Audited:
    """One edition of one competition."""

    id: str
    edition: str
    findings: list[Finding]
    unexamined: dict[str, str]  # file or check -> why it could not be examined
    seconds: float  # of CPU

    def serious(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.level in SERIOUS]

    def naming(self) -> list[Finding]:
        """Findings that name the competition's known flaw."""
        kind, word = KNOWN.get(self.id, ("", ""))
        return [finding for finding in self.findings if finding.kind == kind and word in finding.evidence]

    def to_json(self) -> dict[str, Any]:
        return {
            "competition": self.id,
            "edition": self.edition,
            "seconds": round(self.seconds, 2),
            "findings": [finding.to_json() for finding in self.findings],
            "unexamined": self.unexamined,
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="default: all that are installed")
    parser.add_argument("--size", type=float, default=1.0, help="of the synthetic data")
    parser.add_argument("--checks", nargs="+", default=CHECKS)
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    everything = []
    for id in args.ids or [plugin.name for plugin in plugins("competition")]:
        for one in audited(id, args.size, args.checks):
            everything.append(one)
            print(f"{one.id} {one.edition}: {len(one.findings)} findings, {one.seconds:.1f} s of CPU", flush=True)
            if args.json:
                with args.json.open("a") as file:
                    file.write(f"{json.dumps(one.to_json())}\n")
    return report(everything)


def audited(id: str, size: float, checks: list[str]) -> list[Audited]:
    """Prepare and audit the editions of one competition; all data are removed again."""
    done = []
    with tempfile.TemporaryDirectory() as folder:
        raw, first = Path(folder, "raw"), mlecore.competition(id)
        if not first.loaded.implements("make_raw"):
            first.fetch(raw)
        else:
            first.make_raw(raw, size=size)
        for edition in ("v1", *first.facts.editions):
            root, competition = Path(folder, edition), mlecore.competition(id, edition)
            competition.prepare(raw, root / "public", root / "private")
            scatter_links(root / "public")
            prepared = Prepared(competition=id, edition=edition, synthetic=True, root=root)
            subject, start = Subject(competition, prepared), time.process_time()
            found = ordered([finding for check in checks for finding in findings(subject, check)])
            done.append(Audited(id, edition, found, subject.unexamined, time.process_time() - start))
    return done


def report(everything: list[Audited]) -> int:
    """Print what is known and was found; 1 if they differ."""
    wrong = 0
    first = [one for one in everything if one.edition == "v1"]
    forgotten = {one.id for one in first if mlecore.competition(one.id).facts.leaks} - {*KNOWN, *ELSEWHERE}
    assert not forgotten, f"no kind of finding is known for the leaks of {forgotten}"
    print("\nknown answers and leaks of v1")
    for one in first:
        if one.id in KNOWN:
            named = one.naming()
            wrong += not named
            print(f"  {one.id}: {f'{named[0].level}, {named[0].kind}, {named[0].file}' if named else 'MISSED'}")
    print("answers and leaks that are not known")
    for one in everything:
        for finding in one.serious():
            if one.edition != "v1" or finding not in one.naming():
                wrong += 1
                print(f"  {one.id} {one.edition}: {finding.level}, {finding.kind}, {finding.file}: {finding.evidence}")
    for one in everything:
        for finding in unexamined(one.unexamined):
            print(f"  {one.id} {one.edition}: {finding.file} could not be examined: {finding.evidence}")
    clean = sum(not one.serious() for one in everything)
    print(f"{clean} of {len(everything)} editions have none; {sum(one.seconds for one in everything):.0f} s of CPU")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
