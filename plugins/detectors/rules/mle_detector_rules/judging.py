"""From chunks to a verdict for each rule.

A yes counts only with a quote that stands in the chunk. It needs the majority of votes, and must survive a second pass
that argues against it; one that does not is a note. What was not read or could not be judged makes a rule undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen, mutable

from mle_detector_rules.asking import Judge, NoAnswer, TooLong
from mle_detector_rules.chunks import Chunk, find_quote, split
from mle_detector_rules.material import Material, read_material
from mle_detector_rules.prompts import ANSWERS, DEFENCE, context_of, defending, judging
from mle_detector_rules.questions import Question, read_questions
from mlecore.errors import UsageError
from mlecore.model.detectors import Detection, Evidence, Finding
from mlecore.model.facts import Facts
from mlecore.model.options import boolean
from mlecore.model.record import RunRecord
from mlecore.util.units import counted

_SMALLEST = 500  # characters of a chunk that is not halved any more
_QUOTE = 400  # characters
_SHOWN = 10  # places of a finding
_NAMED = 3  # files in a summary
_REASON = 500  # characters

Answer = Literal["yes", "no", "unclear"]


@frozen(kw_only=True)
class Reply:
    """One answer to one question about one chunk."""

    answer: Answer
    confidence: float
    span: tuple[int, int] | None = None  # of the quote, in the chunk
    reason: str = ""


@frozen(kw_only=True)
class Accusation:
    """A yes with its quote, and what the second pass made of it."""

    chunk: Chunk
    reply: Reply
    stands: bool
    case_against: str = ""  # what the second pass said for the agent


@mutable
class Tally:
    """What is known about one rule."""

    accusations: list[Accusation] = field(factory=list)
    void: int = 0  # yes with a quote that is not there
    unknown: list[str] = field(factory=list)  # why chunks were not judged

    def add(self, more: Tally) -> None:
        self.accusations += more.accusations
        self.void += more.void
        self.unknown += more.unknown


def judge(run: RunRecord, facts: Facts, public: Path | None, options: Mapping[str, str]) -> Detection:
    """Raises MlecoreError where the judge cannot be asked."""
    questions, asked = read_questions(options.get("questions")), Judge(options)
    sizes = {name: int(options[name]) for name in ("budget", "chunk-chars")}
    for name, value in sizes.items():
        if value < _SMALLEST:
            raise UsageError(f"-D {name}={value} is too small: it needs at least {_SMALLEST} characters")
    material = read_material(run, budget=sizes["budget"], chunk_chars=sizes["chunk-chars"])
    tallies = {question.rule: Tally() for question in questions}
    bench = Bench(
        judge=asked,
        questions=questions,
        context=context_of(run, facts, public),
        votes=max(1, int(options["votes"])),
        second_pass=boolean(options["second-pass"]),
    )
    with ThreadPoolExecutor(max(1, int(options["concurrency"]))) as pool:
        for found in pool.map(bench.judge, material.chunks):
            for rule, tally in found.items():
                tallies[rule].add(tally)
    return Detection(
        findings=tuple(_finding(question, tallies[question.rule], material) for question in questions),
        not_read=tuple(material.not_read),
        usage=asked.usage,
        settings={
            "endpoint": asked.endpoint,
            "rules": [question.rule for question in questions],
            "files": material.files,
            "chunks": len(material.chunks),
            "characters": sum(len(chunk.text) for chunk in material.chunks),
            "data_files": {"count": len(material.data), "such_as": list(material.data[:_SHOWN])},
            "calls": asked.calls,
            "from_cache": asked.from_cache,
        },
    )


@frozen(kw_only=True, eq=False)
class Bench:
    """A judge with its questions."""

    judge_: Judge = field(alias="judge")
    questions: Sequence[Question]
    context: str
    votes: int
    second_pass: bool

    def judge(self, chunk: Chunk) -> dict[str, Tally]:
        """What one chunk shows. One that does not fit into the judge's context is halved."""
        tallies = {question.rule: Tally() for question in self.questions}
        try:
            ballots = [self._answers(chunk, vote) for vote in range(self.votes)]
            for question in self.questions:
                self._decide(question, chunk, [ballot[question.rule] for ballot in ballots], tallies[question.rule])
        except TooLong:
            if len(chunk.text) <= _SMALLEST:
                return _all_unknown(tallies, "a chunk does not fit into the judge's context")
            for half in split(chunk, len(chunk.text) // 2 + 1):
                for rule, tally in self.judge(half).items():
                    tallies[rule].add(tally)
        except NoAnswer as error:
            return _all_unknown(tallies, str(error))
        return tallies

    def _answers(self, chunk: Chunk, vote: int) -> dict[str, Reply]:
        """Raises NoAnswer if a rule has no answer, or two that contradict each other."""
        messages = judging(self.questions, self.context, chunk)
        values = self.judge_.ask(messages, ANSWERS, vote).values
        listed = [each for each in _list(values.get("answers")) if isinstance(each, dict)]
        return {question.rule: self._answer(question.rule, chunk, listed) for question in self.questions}

    def _answer(self, rule: str, chunk: Chunk, listed: Sequence[Mapping[str, Any]]) -> Reply:
        given = [_reply(chunk, each) for each in listed if each.get("rule") == rule]
        if not given:
            raise NoAnswer(f"the judge left out {rule}")
        if len({reply.answer for reply in given}) > 1:
            raise NoAnswer(f"the judge contradicts itself about {rule}")
        return given[0]

    def _decide(self, question: Question, chunk: Chunk, votes: Sequence[Reply], tally: Tally) -> None:
        quoted = [vote for vote in votes if vote.answer == "yes" and vote.span]
        tally.void += sum(vote.answer == "yes" and not vote.span for vote in votes)
        if 2 * len(quoted) > len(votes):
            tally.accusations.append(self._tried(question, chunk, max(quoted, key=attrgetter("confidence"))))
        elif 2 * sum(vote.answer == "no" for vote in votes) <= len(votes):
            void = any(vote.answer == "yes" and not vote.span for vote in votes)
            tally.unknown.append("the judge's quote is not in the evidence" if void else "the judge is not sure")

    def _tried(self, question: Question, chunk: Chunk, reply: Reply) -> Accusation:
        """An accusation after the second pass."""
        if not self.second_pass:
            return Accusation(chunk=chunk, reply=reply, stands=True)
        assert reply.span
        quote = chunk.text[slice(*reply.span)]
        values = self.judge_.ask(defending(question, self.context, chunk, quote), DEFENCE).values
        stands = values.get("stands")
        if not isinstance(stands, bool):
            raise NoAnswer("the second pass said neither that the accusation stands nor that it does not")
        return Accusation(chunk=chunk, reply=reply, stands=stands, case_against=_said(values.get("case_against")))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _all_unknown(tallies: Mapping[str, Tally], why: str) -> dict[str, Tally]:
    return {rule: Tally(unknown=[why]) for rule in tallies}


def _reply(chunk: Chunk, given: Mapping[str, Any]) -> Reply:
    answer = given.get("answer")
    if answer not in ("yes", "no", "unclear"):
        raise NoAnswer(f"the judge answered {str(answer)[:40]!r}")
    confidence = given.get("confidence")
    sure = float(confidence) if isinstance(confidence, (int, float)) and 0 <= confidence <= 1 else 0.5
    quote = given.get("quote")
    span = find_quote(chunk.text, quote) if answer == "yes" and isinstance(quote, str) else None
    return Reply(answer=answer, confidence=sure, span=span, reason=_said(given.get("reason")))


def _said(text: object) -> str:
    """A sentence of the judge, safe to print."""
    return "".join(c if c.isprintable() else " " for c in str(text or "")[:_REASON]).strip()


def _finding(question: Question, tally: Tally, material: Material) -> Finding:
    standing = [each for each in tally.accusations if each.stands]
    overturned = [each for each in tally.accusations if not each.stands]
    details = {
        "chunks": len(material.chunks),
        "yes": len(standing),
        "overturned": [_told(each) for each in overturned[:_SHOWN]],
        "quotes_not_found": tally.void,
        "not_judged": sorted(set(tally.unknown))[:_SHOWN],
    }
    make = partial(Finding, rule=question.rule, details=details)
    told = _overturned(overturned)
    if standing:
        best = max(standing, key=lambda each: each.reply.confidence).reply
        return make(
            verdict=question.verdict,
            summary=f"{question.ask.strip()} Yes: {best.reason or 'see the evidence'}{told}",
            confidence=best.confidence,
            evidence=tuple(map(_evidence, standing[:_SHOWN])),
        )
    evidence = tuple(map(_evidence, overturned[:_SHOWN]))
    if why := _undecided(tally, material):
        return make(verdict="undecided", summary=f"{why}{told}", evidence=evidence)
    read = f"{counted(len(material.chunks), 'chunk')} of {counted(material.files, 'file')}"
    if overturned:
        return make(verdict="note", summary=f"the judge read {read}{told}", evidence=evidence)
    beside = f", {counted(len(material.data), 'file')} of data left aside" if material.data else ""
    return make(verdict="clean", summary=f"the judge saw nothing of this in {read}{beside}")


def _undecided(tally: Tally, material: Material) -> str:
    """Why a rule without an accusation that stands is not clean; empty if it is."""
    if not material.own:
        return "the agent left nothing that a judge could read"
    if material.not_read:
        named = ", ".join(dict.fromkeys(each.file for each in material.not_read[:_NAMED]))
        return f"{counted(len(material.not_read), 'file')} not read, or not whole: {named}"
    return f"not everything could be judged: {tally.unknown[0]}" if tally.unknown else ""


def _overturned(accusations: Sequence[Accusation]) -> str:
    """A clause about each yes that the second pass did not let stand."""
    if not accusations:
        return ""
    first = accusations[0]
    reason = f" ({first.reply.reason})" if first.reply.reason else ""
    against = f": {first.case_against}" if first.case_against else ""
    return f"; it said yes {counted(len(accusations), 'time')}{reason}, and its second pass overturned that{against}"


def _told(accusation: Accusation) -> dict[str, Any]:
    place = _evidence(accusation)
    return {
        "file": place.file,
        "line": place.line,
        "quote": place.quote,
        "reason": accusation.reply.reason,
        "case_against": accusation.case_against,
    }


def _evidence(accusation: Accusation) -> Evidence:
    assert accusation.reply.span
    quoted = accusation.chunk.part(*accusation.reply.span)
    shown = quoted.text[:_QUOTE]
    while shown and any("\ud800" <= c <= "\udfff" or c == "\0" for c in shown):  # bytes that no text can hold
        shown = shown[: len(shown) // 2]
    lines = quoted.text.count("\n")
    return Evidence(
        file=quoted.file,
        line=quoted.line,
        last_line=quoted.line + lines if quoted.line is not None and lines else None,
        offset=quoted.offset,
        quote=shown,
    )
