"""What a group's report shows: a table, a chart of familiarity against scores, and what the numbers do not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from mle_ext_report.appendix import Appendix, Dot

from mle_ext_familiarity.measured import Measure, Measured
from mle_ext_familiarity.questions import TOLERANCE
from mle_ext_familiarity.relation import Ages, Relation

_TITLES: Mapping[Measure, str] = {
    "text": "Familiarity with competitions' pages",
    "questions": "Recall of facts about competitions",
    "answers": "Recall of answers of the test part",
}
_COLUMNS: Mapping[Measure, tuple[str, str, str]] = {
    "text": ("TOKEN PROBABILITY", "CONTROL", "TOKENS"),
    "questions": ("RIGHT", "BY GUESSING", "QUESTIONS"),
    "answers": ("RIGHT", "MOST FREQUENT LABEL", "LABELS"),
}
_HOW: Mapping[Measure, str] = {
    "text": "The mean probability of a token of the competition's page; the control is the obfuscated description.",
    "questions": (
        "The share of right answers about metric, columns, winning score, medal thresholds and rows. Numbers count as "
        f"right within {TOLERANCE:.0%}, names whatever their case and punctuation. Guessing is a letter at random, or "
        "the fact of another competition. Intervals are Wilson's (95 %); p is that of so many right answers by "
        "guessing."
    ),
    "answers": (
        "The share of right labels, given ids alone. Intervals are Wilson's (95 %); p is by permutation of the model's "
        "labels among the rows."
    ),
}
_CAVEATS: Mapping[Measure, str] = {
    "text": (
        "A high probability may mean that a text is easy, not that it was seen: compare with the control, which "
        "differs from a page in style and length."
    ),
    "questions": (
        "There are few questions per competition: a single share says little. A model may know a metric from a similar "
        "task."
    ),
    "answers": (
        "Ids may tell the label (an order, a date), so that it can be inferred without memory. No recall from ids does "
        "not rule out that rows are recognised by their content."
    ),
}
_ALWAYS = (
    "A correlation is no cause: competitions that are much discussed may be easier, or older, or both.",
    "With few competitions a weak relation cannot be told from chance, and no relation does not prove that there is no "
    "contamination.",
    "Runs with --obfuscate look from the other side; obfuscation also changes how hard a task is, since descriptions "
    "and names help those who never saw the competition, too.",
)


def appendix(
    model: str,
    measure: Measure,
    found: Sequence[Measured],
    relations: Sequence[Relation],
    ages: Sequence[Ages],
    ended: Mapping[str, date],
) -> Appendix:
    """For ``mlecore report``."""
    value, base, count = _COLUMNS[measure]
    scored = [each for each in found if each.position is not None]
    return Appendix(
        name=f"familiarity-{measure}",
        title=f"{_TITLES[measure]}: {model}",
        header=(
            "COMPETITION",
            value,
            base,
            "DIFFERENCE",
            "95 % INTERVAL",
            "P",
            count,
            "UNREADABLE",
            "ENDED",
            "POSITION",
        ),
        rows=tuple(row(each, ended.get(each.competition)) for each in found),
        notes=(_HOW[measure], *map(str, relations), *map(str, ages), _CAVEATS[measure], *_ALWAYS),
        x=f"{value.lower()} minus {base.lower()}",
        y="position (0: sample, 1: gold)",
        dots=tuple(Dot(x=each.difference, y=each.position or 0.0, name=each.competition) for each in scored),
    )


def row(each: Measured, ended: date | None) -> tuple[str, ...]:
    """A line of the table; `-` where there is nothing."""
    interval = "-" if each.low is None or each.high is None else f"{each.low:.3f} to {each.high:.3f}"
    return (
        each.competition,
        f"{each.value:.4f}",
        f"{each.base:.4f}",
        f"{each.difference:+.4f}",
        interval,
        "-" if each.p is None else f"{each.p:.4f}",
        f"{each.count}",
        f"{each.unreadable}" if each.unreadable else "-",
        str(ended) if ended else "-",
        "-" if each.position is None else f"{each.position:.3f}",
    )
