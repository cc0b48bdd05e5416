"""The sections that compare setups."""

from __future__ import annotations

from mlecore.reports.cells import NONE, RATE_NAMES, interval, number, one_line, out_of, p_value
from mlecore.reports.compare import Comparison
from mlecore.reports.sections.section import FLAGGED, Section
from mlecore.reports.side_by_side import SideBySide
from mlecore.reports.statistics import LEVEL


def side_by_side(found: SideBySide) -> Section:
    first, *others = found.keys
    goal = RATE_NAMES[found.goal].upper()
    rows = []
    for competition, reached in found.rows.items():
        shares = {key: there.goal for key, there in reached.items()}
        groups = dict.fromkeys(group for there in reached.values() for group in there.groups)
        cells = [competition]
        cells += [number(reached[key].score, 5) if key in reached else NONE for key in found.keys]
        cells += [number(shares.get(key), 1) for key in found.keys]
        cells += [f"{shares[first] - shares[k]:+.1f}" if {first, k} <= shares.keys() else NONE for k in others]
        rows.append((*map(one_line, cells), one_line(", ".join(groups))))
    scores, rates = ([f"{key} {what}" for key in found.keys] for what in ("SCORE", f"{goal} %"))
    header = ("COMPETITION", *scores, *rates, *(f"{first} - {key}" for key in others), "GROUPS")
    note = f"Mean scores of valid submissions, and the share of runs with the goal ({RATE_NAMES[found.goal]})."
    return Section(id="side-by-side", title="Side by side", header=header, rows=tuple(rows), notes=(note,))


def comparison_section(found: Comparison) -> Section:
    title = f"{found.a} against {found.b}"
    rows = tuple(
        (
            RATE_NAMES[row.rate] + f", {FLAGGED}" * row.without_flagged,
            f"{row.a:.1f}",
            f"{row.b:.1f}",
            f"{row.difference:+.1f}",
            interval(row.interval),
            p_value(row.p),
            p_value(row.smallest_p),
            *([p_value(row.p_holm)] if row.p_holm is not None else []),
        )
        for row in found.differences
    )
    a, b = found.a.split(":")[0], found.b.split(":")[0]
    over = f"{out_of(found.competitions, found.planned)} {'competition' if found.planned == 1 else 'competitions'}"
    notes = [f"Over {over} planned for both."]
    if found.competitions < found.planned:
        notes.append("The others have no graded run of one or both; --pad-missing counts missing runs as failures.")
    if rows:
        notes.append(
            "P by a paired permutation test over competitions; the interval excludes 0 exactly if P < 0.05. SMALLEST P "
            "is the least that this test could give on as many competitions as the two differ on."
        )
    if found.a_wins is not None:
        where = f" ({LEVEL} % interval {interval(found.a_wins_interval, 2)})" if found.a_wins_interval else ""
        notes.append(f"A run of {a} beats one of {b} with a probability of {found.a_wins:.2f}{where}, by score.")
    if found.differ:
        differ = "; ".join(f"{name}: {' | '.join(values)}" for name, values in found.differ.items())
        done = "" if rows else " They are not compared; --mix compares them anyway."
        notes.append(f"Not comparable: {differ}.{done}")
    header = ["RATE", f"{a} %", f"{b} %", "DIFFERENCE", f"{LEVEL} % INTERVAL", "P", "SMALLEST P"]
    header += ["HOLM"] * any(row.p_holm is not None for row in found.differences)
    return Section(
        id="comparison",
        title=one_line(title),
        header=tuple(header) if rows else (),
        rows=rows,
        notes=tuple(map(one_line, notes)),
    )
