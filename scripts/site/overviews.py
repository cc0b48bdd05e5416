"""Pages about all competitions at once, from their `competition.toml`."""

from __future__ import annotations

from html import escape

from generate import SPLITS, competitions, package

from mlecore.model.facts import Facts, KnownIssue
from mlecore.util.units import show_size


def competitions_page() -> str:
    """All competitions in one table, which filter.js and pages.js let readers filter and sort."""
    parts = [
        "---\nhide: [toc]\n---\n\n# Competitions\n\n"
        "The competitions of MLE-bench by its splits, seven for development, and one for practice. A page for each "
        "has its commands, an example of its data, and the scores at which its medals begin. "
        "[Known issues](known-issues.md) lists flaws that edition v1 keeps, and [What v2 changes](v2-changes.md) how "
        "edition v2 repairs them. ↑ higher is better, ↓ lower is better.",
        f'<table class="competitions">\n<thead><tr>{_HEADINGS}</tr></thead>\n<tbody>',
        *(_row(facts) for split in SPLITS for facts in competitions() if facts.split == split),
    ]
    return "\n\n".join(parts[:2]) + "\n" + "\n".join(parts[2:]) + "\n</tbody>\n</table>\n"


def known_issues_page() -> str:
    """The flaws of all competitions."""
    known = [facts for facts in competitions() if facts.known_issues]
    count = sum(len(facts.known_issues) for facts in known)
    parts = [
        "# Known issues\n\n"
        "Edition v1 is the benchmark as published, flaws included, so that scores compare with the public leaderboard. "
        f"These are its {count} known flaws, in {len(known)} of {len(competitions())} competitions: what is wrong, how "
        "it affects scores, and what a repaired edition should change, or the edition in which it is repaired "
        "([editions.md](editions.md)). The last cell is empty if nothing needs to be changed.\n"
    ]
    for split, title in SPLITS.items():
        some = [facts for facts in known if facts.split == split]
        for first, facts in enumerate(some):
            heading = f"## {title}\n\n" if first == 0 else ""
            rows = (f"| {issue.what} | {issue.effect} | {_repair(issue)} |" for issue in facts.known_issues)
            parts.append(
                f"{heading}### [{facts.id}](../plugins/competitions/{package(facts).name}/)\n\n"
                "| issue | effect on scores | repair |\n|---|---|---|\n" + "\n".join(rows) + "\n"
            )
    if none := [facts.id for facts in competitions() if not facts.known_issues]:
        parts.append(f"## None known\n\n{', '.join(none)}\n")
    return "\n".join(parts)


def changes_page() -> str:
    """What edition v2 changes in each competition, and how each test part relates to Kaggle's."""
    found = [facts for facts in competitions() if "v2" in facts.editions]
    rows = [f"| {facts.id} | `{facts.editions['v2'].thresholds}` | {facts.editions['v2'].changes} |" for facts in found]
    newest = (facts.in_edition("v2") if "v2" in facts.editions else facts for facts in competitions())
    parts = [f"| {facts.id} | {facts.test_part} |" for facts in newest if facts.test_part]
    return (
        "# What v2 changes\n\n[editions.md](editions.md) says what is common to all competitions.\n\n"
        "| competition | `thresholds` | what v2 changes |\n|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "## How each test part relates to Kaggle's\n\n"
        "Kaggle never published the labels of most of its private test parts, so nearly all test parts here come from "
        "its training data: the human leaderboard was ranked on other rows. Where the split of v2 differs, the line is "
        "v2's; `mlecore competitions show ID` shows that of v1.\n\n"
        "| competition | test part |\n|---|---|\n" + "\n".join(parts) + "\n"
    )


def _repair(issue: KnownIssue) -> str:
    return f"**{issue.mended}**: {issue.fix or 'repaired'}" if issue.mended else issue.fix or ""


_HEADINGS = "".join(
    f"<th scope=col{attributes}><button type=button>{name}</button></th>"
    for name, attributes in {
        "Competition": "",
        "Modality": ' data-menu="All modalities"',
        "Task": "",
        "Metric": "",
        "Split": ' data-menu="All splits"',
        "Size": "",
    }.items()
)


def _row(facts: Facts) -> str:
    size = "" if facts.size_gb is None else show_size(facts.size_gb * 1e9)
    leak = ' <span class="leak">public files of v1 give answers away</span>' if facts.leaks else ""
    cells = (
        f'<a href="{facts.id}.html">{escape(facts.title)}</a> <small>{facts.id}{leak}</small>',
        facts.modality,
        escape(facts.task),
        f"{facts.metric} {'↓' if facts.lower_is_better else '↑'}",
        SPLITS[facts.split].replace("MLE-bench ", ""),
    )
    return f'<tr>{"".join(f"<td>{cell}</td>" for cell in cells)}<td data-value="{facts.size_gb or ""}">{size}</td></tr>'
