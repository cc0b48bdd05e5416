"""A competition's page on the documentation site: what an agent sees, what earns a medal, and what to distrust."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Literal

from build import data
from generate import distribution, package, project

from mlecore.grading.medals import thresholds_for
from mlecore.model.facts import Edition, Facts
from mlecore_toolkit.submissions.format import Column

EXAMPLES = Path(__file__).parent / "examples"  # written by examples.py
SPLITS = {"low": "low (MLE-bench Lite)", "medium": "medium", "high": "high", "dev": "development"}
COMPARABILITY = {
    "same": "Human scores compare at least as well as in v1.",
    "near": "The split or the inputs changed, so medals are only near those of v1.",
    "none": "There are no medals: human scores were reached on another task.",
}
IDS = {
    "list": "each id of the test part, as often as there",
    "set": "each id of the test part",
    "subset": "ids of the test part; some may be missing",
    "any": "ids are not compared",
}


def competition_page(facts: Facts) -> str:
    """The page, in Markdown."""
    title = f"---\ntitle: {facts.title!r}\n---\n\n# {facts.title}"
    summary = (package(facts) / "README.md").read_text(encoding="utf-8").partition("\n")[2].strip()
    parts = [title, summary, _overview(facts), _commands(facts), _example(facts.id), *_sections(facts)]
    return "\n\n".join(parts) + "\n"


def _overview(facts: Facts) -> str:
    thresholds = thresholds_for(facts)
    better = "lower" if facts.lower_is_better else "higher"
    rows = {
        "id": f"`{facts.id}`",
        "split": SPLITS.get(facts.split or "", "none: for practice"),
        "task": f"{facts.task} ({facts.modality})",
        "metric": f"{facts.metric}; {better} is better",
        "data": data(facts),
        "package": f"`{distribution(package(facts))}` {project(package(facts))['version']}",
    }
    if facts.test_part:
        rows["test part"] = facts.test_part
    if facts.kaggle:
        rows["on Kaggle"] = f"[{facts.kaggle}](https://www.kaggle.com/c/{facts.kaggle})"
    table = _table(("", ""), rows.items())
    if thresholds is None:
        return f"{table}\n\nThere is no human leaderboard, so there are no medals."
    names = ("gold", "silver", "bronze", "median")
    return f"{table}\n\n## Medals\n\n" + _table(names, [[f"{getattr(thresholds, name):g}" for name in names]])


def _commands(facts: Facts) -> str:
    id = facts.id
    account = "  # from Kaggle; --synthetic needs no account" if facts.kaggle else ""
    lines = [
        f"pip install {distribution(package(facts))}",
        f"mlecore prepare {id}{account}",
        f"mlecore run --agent baseline --competition {id}",
        f"mlecore grade submission.csv {id}",
    ]
    closed = f"\n\n!!! warning\n    {facts.closed[:1].upper()}{facts.closed[1:]}." if facts.closed else ""
    return "## Commands\n\n```\n" + "\n".join(lines) + f"\n```{closed}"


def _example(id: str) -> str:
    """Pictures or spectrograms, and the first rows of two tables: as HTML, because cells may contain any text."""
    parts = ["## Example", "A little of what an agent sees, from the synthetic data; the real data look different."]
    if (EXAMPLES / f"{id}.webp").exists():
        parts.append(f"![Examples of the public files](../assets/examples/{id}.webp)")
    for table in json.loads((EXAMPLES / f"{id}.json").read_text(encoding="utf-8"))["tables"]:
        more = ["..."] if table["more"] > 0 else []
        rows = [f"<tr>{_cells('td', [*row, *more])}</tr>" for row in table["rows"]]
        head = f"<thead><tr>{_cells('th', [*table['columns'], *more])}</tr></thead>"
        parts.append(f"`{table['file']}`\n\n<table>{head}<tbody>{''.join(rows)}</tbody></table>")
    return "\n\n".join(parts)


def _cells(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def _sections(facts: Facts) -> Iterator[str]:
    form = facts.submission
    columns = [(f"`{form.id}`", "id", IDS[form.ids])] if form.id else []
    columns += [(_column(name), column.type, _values(column)) for name, column in form.columns.items()]
    yield "## Submission\n\n" + _table(("column", "type", "values"), columns)
    if facts.expect:
        rows = [(f"`{path}`", _count(counts)) for path, counts in facts.expect.items()]
        yield "## Prepared data\n\n" + _table(("path", "content"), rows)
    if facts.leaks:
        rows = [(f"`{leak.file}`" + (f", `{leak.column}`" if leak.column else ""), leak.why) for leak in facts.leaks]
        yield "## Known leaks\n\nPublic files of v1 that give answers away:\n\n" + _table(("file", "how"), rows)
    if facts.known_issues:
        issues = [(one.what, one.effect, _repair(one.mended, one.fix)) for one in facts.known_issues]
        note = "Edition v1 keeps these flaws, so that scores compare with published ones."
        yield f"## Known issues\n\n{note}\n\n" + _table(("issue", "effect on scores", "repair"), issues)
    for name, edition in facts.editions.items():
        yield _edition(facts, name, edition)


def _edition(facts: Facts, name: str, edition: Edition) -> str:
    parts = [f"## Edition {name}: `{edition.thresholds}`", f"{edition.changes} {COMPARABILITY[edition.thresholds]}"]
    changed = facts.in_edition(name)
    if changed.metric != facts.metric:
        parts.append(f"Its metric is {changed.metric}.")
    if edition.test_part:
        parts.append(f"Its test part: {edition.test_part}")
    parts.append("What the words `same`, `near` and `none` mean: [editions](../editions.md).")
    return "\n\n".join(parts)


def _column(name: str) -> str:
    return "every other column" if name == "*" else f"`{name}`"


def _values(column: Column) -> str:
    low, high = (None if math.isinf(bound) else f"{bound:g}" for bound in (column.low, column.high))
    if column.choices:
        return ", ".join(f"`{choice}`" for choice in column.choices[:12]) + (" ..." if len(column.choices) > 12 else "")
    if column.record:
        return f"lists of records: {' '.join(map(str, column.record))}"
    if low and high:
        return f"{low} to {high}"
    return f"at least {low}" if low else f"at most {high}" if high else ""


def _count(counts: Mapping[Literal["rows", "files"], int]) -> str:
    return ", ".join(f"{number:,} {unit}" for unit, number in counts.items())


def _repair(mended: str | None, fix: str | None) -> str:
    return f"**{mended}**: {fix or 'repaired'}" if mended else fix or ""


def _table(header: tuple[str, ...], rows: Iterable[Iterable[object]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(" ".join(str(cell).split()).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
