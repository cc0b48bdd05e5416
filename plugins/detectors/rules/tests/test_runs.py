"""Honest, violating and evading runs come to the verdict that an attentive judge leads to."""

from __future__ import annotations

import re
from typing import Any

import pytest
from runs_to_judge import CASES, Case
from scripted_judge import defends, says, yes

from mlecore.runs.findings import findings_of


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_verdict(court: Any, by_rule: Any, case: Case) -> None:
    run = court.run(files=case.files)
    accuses = says({case.rule: yes(case.says_yes)}, when=re.escape(case.says_yes), times=0)
    answers = (defends(case.stands, times=0), accuses) if case.says_yes else ()
    detection = court.judge(run, *answers, says(times=0))
    found = by_rule(detection)
    others = {finding.verdict for rule, finding in found.items() if rule != case.rule}
    if case.rule:
        assert found[case.rule].verdict == case.verdict
        assert others == {"undecided" if case.not_read else "clean"}
    else:
        assert others == {case.verdict}
    assert {each.file for each in detection.not_read} == set(case.not_read)
    if case.says_yes:
        [place] = {(place.file, place.quote) for place in found[case.rule].evidence}
        assert place[1] == case.says_yes
    record = findings_of(run, run.agent, detection, group="", created_at="now", seconds=1)
    expected = "suspicious" if case.verdict == "suspicious" else case.verdict
    assert record.outcome == expected
