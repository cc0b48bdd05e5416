"""The log of calls, which is also the gateway's memory: what is spent is the sum of its lines, also after a restart.

A call has two lines: one before it is passed on, ``started``, with the most that it may cost as its estimate, and one
after it has ended. If the second is missing, the gateway was killed during the call. It then counts in full, for nobody
knows what the endpoint made of it: whoever reads the log sees that, also if no gateway was started again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from copy import copy
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from .calls import Call, Tokens

LOG = "gateway.jsonl"
LOG_BYTES = 256 * 1024 * 1024
REFUSALS = 1000  # that get their own line; later ones share a line per thousand
_LINE = 64 * 1024  # longer than any line


class LedgerError(Exception):
    """Calls cannot be logged, so none may be made."""


class Spent(msgspec.Struct):
    """What budgets are compared with."""

    usd: float = 0.0
    tokens: int = 0
    calls: int = 0

    def add(self, call: Call) -> None:
        counted = call.tokens or call.estimate
        if not call.reached or (call.fault and counted is None):  # an endpoint that fails uses up no budget
            return
        self.calls += 1
        counted = counted or Tokens()
        self.tokens += counted.input + counted.output
        self.usd += call.cost_usd or 0.0


class Ledger:
    """The calls of one attempt. ``spent`` counts those that ended, and what was spent ``before``."""

    def __init__(self, folder: Path, before: Spent | None = None) -> None:
        self.spent = copy(before) if before else Spent()
        self.refused = 0
        self._unwritten: list[bytes] = []
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._log = os.open(folder / LOG, flags, 0o600)
        self._number = 0
        self._remember(folder / LOG)

    def _remember(self, log: Path) -> None:
        size = os.fstat(self._log).st_size
        if size and os.pread(self._log, 1, size - 1) != b"\n":  # cut by a full disk
            os.write(self._log, b"\n")
        ended = sum(1 for _ in read_calls(log, under_way=False))
        for at, call in enumerate(read_calls(log)):
            self.spent.add(call)
            self._number = max(self._number, call.number)
            self.refused += call.times if call.outcome == "refused" else 0
            if at >= ended:
                self._write(call)

    @property
    def full(self) -> bool:
        return os.fstat(self._log).st_size >= LOG_BYTES

    def begin(self, call: Call) -> None:
        """Before it is passed on; gives it its number. Raises LedgerError if that cannot be logged."""
        self._flush()
        call.number = self._number + 1
        size = os.fstat(self._log).st_size
        if not self._unwritten:
            self._write(msgspec.structs.replace(call, outcome="started"))
            if not self._unwritten:
                self._number = call.number
                return
            self._unwritten.clear()
            os.ftruncate(self._log, size)
        raise LedgerError("the gateway's log cannot be written: is the disk full?")

    def end(self, call: Call) -> None:
        """It has ended: count it, write its line."""
        self.spent.add(call)
        self._write(call)

    def refuse(self, call: Call) -> None:
        """Log that a call was rejected; an agent that asks for ever does not fill the disk."""
        self.refused += 1
        if self.refused <= REFUSALS:
            self._write(call)
        elif self.refused % REFUSALS == 0:
            call.times = REFUSALS
            self._write(call)

    def close(self) -> None:
        """Write a line for the refusals that have none yet."""
        rest = self.refused % REFUSALS
        if self.refused > REFUSALS and rest:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            self._write(Call(time=now, method="", path="", outcome="refused", reason="as before", times=rest))
        self._flush()
        os.close(self._log)

    def _write(self, call: Call) -> None:
        self._unwritten.append(msgspec.json.encode(call) + b"\n")
        self._flush()

    def _flush(self) -> None:
        with contextlib.suppress(OSError):
            while self._unwritten:
                line = self._unwritten[0]
                written = os.write(self._log, line)
                if written < len(line):
                    self._unwritten[0] = line[written:]
                else:
                    del self._unwritten[0]


def read_calls(log: Path, *, under_way: bool = True) -> Iterator[Call]:
    """The calls in the order in which they ended, then, as ``cut``, those that have started and not ended.

    ``under_way=False`` leaves these out, for the log of a gateway that may still be active.
    """
    started: dict[int, Call] = {}
    for call in _lines(log):
        if call.outcome == "started":
            started[call.number] = call
        else:
            started.pop(call.number, None)
            yield call
    for call in started.values() if under_way else ():
        call.outcome, call.reason = "cut", "the gateway died before the call ended"
        yield call


def _lines(log: Path) -> Iterator[Call]:
    decoder = msgspec.json.Decoder(Call)
    with contextlib.suppress(FileNotFoundError), log.open("rb") as source:
        while line := source.readline(_LINE):
            with contextlib.suppress(msgspec.MsgspecError):
                yield decoder.decode(line)
