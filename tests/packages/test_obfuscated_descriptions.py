"""Every competition of the benchmark has an obfuscated description, in each edition, and none tells which it is."""

from __future__ import annotations

from mlecore.model.facts import OBFUSCATED_DESCRIPTION
from mlecore.plugins.competitions import all_competitions
from mlecore_testing.competitions.obfuscated import signs


def test_all_have_one_without_a_sign() -> None:
    """Names in code may be the data's: here those of description.md stand for the data, which the kit looks at."""
    found, seen = [], 0
    for competition in all_competitions():
        if competition.facts.split is None:
            continue
        for edition in ("v1", *competition.facts.editions):
            facts = competition.facts.in_edition(edition)
            text = facts.obfuscated_description
            seen += 1
            found += [f"{facts.id} {edition}: {sign}" for sign in signs(text, facts, facts.description)]
            if facts.title.lower() in text.lower() or facts.id in text:
                found.append(f"{facts.id} {edition}: it has the id or the title")
            if not {"## The task", "## Submission", "## Evaluation"} <= set(text.splitlines()):
                found.append(f"{facts.id} {edition}: {OBFUSCATED_DESCRIPTION} lacks a section")
    assert found == []
    assert seen >= 2 * 82
