"""The kit reports all that is broken, and holds waivers to their word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from attrs import evolve

from mlecore.model.facts import Waiver
from mlecore_testing.rules import Broken, ConformanceError, Rule, Stop, Undecided, apply_rules


def holds(harness: object) -> Iterable[Broken]:
    return ()


def breaks(harness: object) -> Iterator[Broken]:
    yield Broken("it is odd", "here")
    yield Broken("it is odd", "there")


def stops(harness: object) -> Iterator[Broken]:
    yield Broken("lost, since the rule stops")
    raise Stop("nothing is there")


def crashes(harness: object) -> Iterable[Broken]:
    raise KeyError("x")


def undecided(harness: object) -> Iterable[Broken]:
    raise Undecided("no such program here")


def rule(name: str, test: object, *needs: str) -> Rule[object]:
    return Rule(name, f"{name} must hold", test, needs=needs)  # type: ignore[arg-type]


def broken(rules: list[Rule[object]], *waived: str) -> ConformanceError:
    with pytest.raises(ConformanceError) as caught:
        apply_rules("thing x", None, rules, [Waiver(rule=name, why="by design") for name in waived])
    return caught.value


def test_all_that_is_broken_is_reported_at_once() -> None:
    error = broken([rule("first", breaks), rule("second", holds), rule("third", stops)])
    assert list(error.broken) == ["first", "third"]
    assert str(error).splitlines() == [
        "thing x breaks 2 rules of the kit:",
        "  first - first must hold",
        "    * here: it is odd",
        "    * there: it is odd",
        "  third - third must hold",
        "    * nothing is there",
    ]


def test_what_needs_a_rule_that_stopped_is_not_tried() -> None:
    rules = [rule("first", stops), rule("second", crashes, "first"), rule("third", crashes, "second")]
    assert list(broken(rules).broken) == ["first"]


def test_what_needs_a_rule_that_is_broken_is_tried_all_the_same() -> None:
    assert list(broken([rule("first", breaks), rule("second", breaks, "first")]).broken) == ["first", "second"]


def test_a_crash_names_the_line() -> None:
    assert "KeyError: 'x' (raised in test_rules.py, line" in str(broken([rule("first", crashes)]))


def test_what_cannot_be_tried_is_returned_with_the_reason() -> None:
    (skipped,) = apply_rules("thing x", None, [rule("first", undecided), rule("second", holds)])
    assert (skipped.rule, skipped.why) == ("first", "no such program here")


def test_a_waived_rule_may_be_broken() -> None:
    assert apply_rules("thing x", None, [rule("first", breaks)], [Waiver(rule="first", why="by design")]) == []


def test_a_waiver_whose_rule_holds_is_a_failure() -> None:
    error = broken([rule("first", holds)], "first")
    assert "its waiver is out of date: by design" in str(error)


def test_a_waiver_of_a_sampled_rule_need_not_be_needed_each_time() -> None:
    sampled = evolve(rule("first", holds), sampled=True)
    apply_rules("thing x", None, [sampled], [Waiver(rule="first", why="by design")])


def test_a_waiver_of_an_unknown_rule_is_a_failure() -> None:
    assert "unknown rule 'frist'; available: first" in str(broken([rule("first", holds)], "frist"))
