"""How the kit works: rules are tried in order, every broken one is reported, and a waiver must be needed."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from attrs import field, frozen

from mlecore.model.facts import Waiver

Subject = TypeVar("Subject")

_SHOWN = 5  # places shown of one broken rule
_WAIVE = "competition.toml, [[waive]]"


@frozen
class Broken:
    """One place where a rule does not hold."""

    what: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


class Undecided(Exception):
    """A rule cannot be tried here; the message says why. Neither passed nor failed."""


class Stop(Exception):
    """A rule is broken so badly that those which need it cannot be tried; the message says how."""


@frozen
class Rule(Generic[Subject]):
    """One thing that must hold: ``test`` yields each place where it does not."""

    name: str  # what [[waive]] names
    says: str  # the rule as a sentence
    test: Callable[[Subject], Iterable[Broken]]
    needs: tuple[str, ...] = field(default=(), kw_only=True)  # rules that must have been tried without a Stop
    sampled: bool = field(
        default=False, kw_only=True
    )  # tried on as many cases as time allows: its waiver need not be needed each time
    long: bool = field(default=False, kw_only=True)  # left out of the kit's short form


@frozen(kw_only=True)
class Skipped:
    """A rule that could not be tried."""

    rule: str
    why: str


class ConformanceError(AssertionError):
    """A plugin breaks rules of the kit. ``broken`` has them all, by name; the message shows each with its places."""

    def __init__(self, subject: str, broken: dict[str, list[Broken]], says: dict[str, str]) -> None:
        self.subject = subject
        self.broken = broken
        lines = [f"{subject} breaks {len(broken)} rule{'s' if len(broken) > 1 else ''} of the kit:"]
        for name, places in broken.items():
            lines.append(f"  {name}" + (f" - {says[name]}" if name in says else ""))
            lines += ["    * " + str(place).replace("\n", "\n      ") for place in places[:_SHOWN]]
            if len(places) > _SHOWN:
                lines.append(f"    * ... and {len(places) - _SHOWN} more")
        super().__init__("\n".join(lines))


def apply_rules(
    subject: str, harness: Subject, rules: Sequence[Rule[Subject]], waivers: Sequence[Waiver] = (), short: bool = False
) -> list[Skipped]:
    """Try all rules; returns those that could not be tried. Raises ConformanceError with all that are broken.

    The short form leaves out long rules, and tries too few cases to tell that a waiver is not needed.
    """
    __tracebackhide__ = True  # pytest shows the message, not the kit's code
    waived = {waiver.rule: waiver for waiver in waivers}
    says = {rule.name: rule.says for rule in rules}
    broken: dict[str, list[Broken]] = {}
    skipped: list[Skipped] = []
    stopped: set[str] = set()
    for rule in rules:
        if short and rule.long:
            skipped.append(Skipped(rule=rule.name, why="left out of the short form"))
            continue
        if lacking := [name for name in rule.needs if name in stopped]:
            stopped.add(rule.name)
            skipped.append(Skipped(rule=rule.name, why=f"the rule {lacking[0]} must hold first"))
            continue
        try:
            places = list(rule.test(harness))
        except Undecided as reason:
            skipped.append(Skipped(rule=rule.name, why=str(reason)))
            continue
        except Stop as reason:
            stopped.add(rule.name)
            places = [Broken(str(reason))]
        except Exception as error:
            stopped.add(rule.name)
            places = [Broken(f"the rule cannot be tried: {_crash(error)}")]
        if rule.name in waived:
            if places or rule.sampled or short:
                continue
            places = [Broken(f"the rule holds, so its waiver is out of date: {waived[rule.name].why}", _WAIVE)]
        if places:
            broken[rule.name] = places
    if unknown := [name for name in waived if name not in says]:
        broken["waive"] = [Broken(f"unknown rule {name!r}; available: {', '.join(says)}", _WAIVE) for name in unknown]
    if broken:
        raise ConformanceError(subject, broken, says)
    return skipped


def _crash(error: Exception) -> str:
    """An exception nobody expected, with the line that raised it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} (raised in {Path(frame.filename).name}, line {frame.lineno})"
