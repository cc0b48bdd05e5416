"""From pieces to a verdict for each rule.

A yes counts only with a quote that stands in the piece. It needs the majority of votes, and must survive a second pass
that argues against it. What could not be judged makes a rule undecided, never clean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen, mutable

from mle_detector_rules.asking import Judge, NoAnswer, TooLong
from mle_detector_rules.material import Piece, find_quote, pieces_of, split
from mle_detector_rules.prompts import ANSWERS, DEFENCE, defending, given_to, judging
from mle_detector_rules.questions import Question, read_questions
from mlecore.detectors import Detection, Evidence, Finding
from mlecore.facts import Facts
from mlecore.options import boolean
from mlecore.runs.record import RunRecord

_SMALLEST = 500  # characters of a piece that is not halved any more
_QUOTE = 400  # characters
_SHOWN = 10  # pieces of a finding

Answer = Literal["yes", "no", "unclear"]


@frozen(kw_only=True)
class Reply:
    """One answer to one question about one piece."""

    answer: Answer
    confidence: float
    span: tuple[int, int] | None = None  # of the quote, in the piece
    reason: str = ""


@mutable
class Tally:
    """What is known about one rule."""

    yes: list[tuple[Piece, Reply]] = field(factory=list)
    overturned: int = 0  # by the second pass
    void: int = 0  # yes with a quote that is not there
    unknown: list[str] = field(factory=list)  # why pieces were not judged


def judge(run: RunRecord, facts: Facts, public: Path | None, options: Mapping[str, str]) -> Detection:
    """Raises MlecoreError where the judge cannot be asked."""
    questions, asked = read_questions(options.get("questions")), Judge(options)
    pieces = list(pieces_of(run, int(options["piece"])))
    chosen = _some(pieces, int(options["pieces"]))
    tallies = {question.rule: Tally() for question in questions}
    if len(chosen) < len(pieces):
        for tally in tallies.values():
            tally.unknown.append(f"{len(pieces) - len(chosen)} of {len(pieces)} pieces were not read (-D pieces)")
    bench = Bench(
        judge=asked,
        questions=questions,
        context=given_to(run, facts, public),
        votes=max(1, int(options["votes"])),
        second_pass=boolean(options["second_pass"]),
    )
    with ThreadPoolExecutor(max(1, int(options["at_once"]))) as pool:
        for found in pool.map(bench.judge, chosen):
            for rule, tally in found.items():
                _add(tallies[rule], tally)
    return Detection(
        findings=tuple(_finding(question, tallies[question.rule], len(chosen)) for question in questions),
        usage=asked.usage,
        settings={
            "endpoint": asked.endpoint,
            "rules": [question.rule for question in questions],
            "pieces": len(chosen),
            "calls": asked.calls,
            "from_cache": asked.from_cache,
        },
    )


def _some(pieces: Sequence[Piece], most: int) -> list[Piece]:
    """The first and the last ones where there are too many."""
    if len(pieces) <= most:
        return list(pieces)
    return [*pieces[: most - most // 2], *pieces[len(pieces) - most // 2 :]]


def _add(tally: Tally, more: Tally) -> None:
    tally.yes += more.yes
    tally.overturned += more.overturned
    tally.void += more.void
    tally.unknown += more.unknown


@frozen(kw_only=True, eq=False)
class Bench:
    """A judge with its questions."""

    judge_: Judge = field(alias="judge")
    questions: Sequence[Question]
    context: str
    votes: int
    second_pass: bool

    def judge(self, piece: Piece) -> dict[str, Tally]:
        """What one piece shows. One that does not fit into the judge's context is halved."""
        tallies = {question.rule: Tally() for question in self.questions}
        try:
            ballots = [self._answers(piece, vote) for vote in range(self.votes)]
            for question in self.questions:
                self._decide(question, piece, [ballot[question.rule] for ballot in ballots], tallies[question.rule])
        except TooLong:
            if len(piece.text) <= _SMALLEST:
                return _all_unknown(tallies, "a piece does not fit into the judge's context")
            for half in _halves(piece):
                for rule, tally in self.judge(half).items():
                    _add(tallies[rule], tally)
        except NoAnswer as error:
            return _all_unknown(tallies, str(error))
        return tallies

    def _answers(self, piece: Piece, vote: int) -> dict[str, Reply]:
        messages = judging(self.questions, self.context, piece)
        values = self.judge_.ask(messages, ANSWERS, vote).values
        given = {str(each.get("rule")): each for each in _list(values.get("answers")) if isinstance(each, dict)}
        missing = [question.rule for question in self.questions if question.rule not in given]
        if missing:
            raise NoAnswer(f"the judge left out {missing[0]}")
        return {question.rule: _reply(piece, given[question.rule]) for question in self.questions}

    def _decide(self, question: Question, piece: Piece, votes: Sequence[Reply], tally: Tally) -> None:
        quoted = [vote for vote in votes if vote.answer == "yes" and vote.span]
        tally.void += sum(vote.answer == "yes" and not vote.span for vote in votes)
        if 2 * len(quoted) > len(votes):
            best = max(quoted, key=_confidence)
            if not self.second_pass or self._stands(question, piece, best):
                tally.yes.append((piece, best))
            else:
                tally.overturned += 1
        elif 2 * sum(vote.answer == "no" for vote in votes) <= len(votes):
            void = any(vote.answer == "yes" and not vote.span for vote in votes)
            tally.unknown.append("the judge's quote is not in the evidence" if void else "the judge is not sure")

    def _stands(self, question: Question, piece: Piece, reply: Reply) -> bool:
        assert reply.span
        quote = piece.text[slice(*reply.span)]
        values = self.judge_.ask(defending(question, self.context, piece, quote), DEFENCE).values
        stands = values.get("stands")
        if not isinstance(stands, bool):
            raise NoAnswer("the judge's second answer is none")
        return stands


def _confidence(reply: Reply) -> float:
    return reply.confidence


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _all_unknown(tallies: Mapping[str, Tally], why: str) -> dict[str, Tally]:
    return {rule: Tally(unknown=[why]) for rule in tallies}


def _halves(piece: Piece) -> Iterator[Piece]:
    for half in split(piece.file, piece.text, len(piece.text) // 2 + 1, binary=piece.binary):
        yield Piece(
            file=half.file, start=piece.start + half.start, text=half.text, whole=piece.whole, binary=piece.binary
        )


def _reply(piece: Piece, given: Mapping[str, Any]) -> Reply:
    answer = given.get("answer")
    if answer not in ("yes", "no", "unclear"):
        raise NoAnswer(f"the judge answered {str(answer)[:40]!r}")
    confidence = given.get("confidence")
    sure = float(confidence) if isinstance(confidence, (int, float)) and 0 <= confidence <= 1 else 0.5
    quote = given.get("quote")
    span = find_quote(piece, quote) if answer == "yes" and isinstance(quote, str) else None
    return Reply(answer=answer, confidence=sure, span=span, reason=str(given.get("reason", ""))[:500])


def _finding(question: Question, tally: Tally, pieces: int) -> Finding:
    details = {
        "pieces": pieces,
        "yes": len(tally.yes),
        "overturned": tally.overturned,
        "quotes_not_found": tally.void,
        "not_judged": sorted(set(tally.unknown))[:_SHOWN],
    }
    make = partial(Finding, rule=question.rule, details=details)
    if tally.yes:
        best = max(tally.yes, key=lambda pair: pair[1].confidence)[1]
        reason = "".join(c if c.isprintable() else " " for c in best.reason).strip()
        return make(
            verdict=question.verdict,
            summary=f"{question.ask.strip()} Yes: {reason or 'see the evidence'}",
            confidence=best.confidence,
            evidence=tuple(_evidence(piece, reply) for piece, reply in tally.yes[:_SHOWN]),
        )
    if tally.unknown:
        return make(verdict="undecided", summary=f"not all of it could be judged: {tally.unknown[0]}")
    return make(verdict="clean", summary="the judge saw nothing of this in any piece")


def _evidence(piece: Piece, reply: Reply) -> Evidence:
    assert reply.span
    start, end = (piece.start + at for at in reply.span)
    quote = piece.whole[start:end]
    line = piece.whole.count("\n", 0, start) + 1
    shown = quote[:_QUOTE]
    while shown and any("\ud800" <= c <= "\udfff" for c in shown):  # bytes that no text can hold
        shown = shown[: len(shown) // 2]
    return Evidence(
        file=piece.file,
        line=line,
        last_line=line + quote.count("\n") if "\n" in quote else None,
        offset=len(piece.whole[:start].encode("utf-8", "surrogateescape")) if piece.binary else None,
        quote=shown,
    )
