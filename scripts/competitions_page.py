"""Writes docs/competitions.md from the facts of the installed competitions."""

from __future__ import annotations

from pathlib import Path

from mlecore.competitions import installed
from mlecore.facts import Facts
from mlecore.grading.medals import thresholds_for

SPLITS = {"low": "Low (MLE-bench Lite)", "medium": "Medium", "high": "High", "dev": "Development and practice"}


def row(facts: Facts) -> str:
    """One line of the table."""
    thresholds = thresholds_for(facts)
    medals = "none" if thresholds is None else f"{thresholds.gold:g} / {thresholds.silver:g} / {thresholds.bronze:g}"
    size = "" if facts.size_gb is None else f"{facts.size_gb:g} GB"
    better = "↓" if facts.lower_is_better else "↑"
    package = f"[{facts.id}](../plugins/competitions/{facts.id}/)"
    leak = "leak" if facts.leaks else ""
    return f"| {package} | {facts.modality} | {facts.task} | {facts.metric} {better} | {medals} | {size} | {leak} |"


def page() -> str:
    """The whole page."""
    competitions = [competition.facts for competition in installed()]
    parts = [
        "# Competitions\n\nGenerated from each package's `competition.toml` by `scripts/competitions_page.py`. "
        "Thresholds are those of gold, silver and bronze on the human leaderboard; ↑ higher is better, ↓ lower. "
        "Known leaks are described in the package's README.\n"
    ]
    for split, title in SPLITS.items():
        rows = [row(facts) for facts in competitions if facts.split == split]
        if rows:
            parts.append(
                f"## {title}: {len(rows)}\n\n| competition | modality | task | metric | medals | size | |\n"
                "|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
            )
    return "\n".join(parts)


if __name__ == "__main__":
    (Path(__file__).parent.parent / "docs" / "competitions.md").write_text(page(), encoding="utf-8")
