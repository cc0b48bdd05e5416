"""The log of calls, which is also the gateway's memory: what is spent is the sum of its lines, also after a restart.

A call in progress has a record of fixed size in ``gateway.open``, with the most that it may cost as its estimate. A
gateway that finds one there when it starts was killed during the call, and writes the missing line: the call counts in
full, for nobody knows what the endpoint made of it.
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
OPEN = "gateway.open"
LOG_BYTES = 256 * 1024 * 1024
REFUSALS = 1000  # that get their own line; later ones share a line per thousand
_RECORD = 4096
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
    """Of one attempt. ``spent`` has the calls that ended, and what was spent ``before``."""

    def __init__(self, folder: Path, before: Spent | None = None) -> None:
        self.spent = copy(before) if before else Spent()
        self.refused = 0
        self._unwritten: list[bytes] = []
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._log = os.open(folder / LOG, flags, 0o600)
        self._open = os.open(folder / OPEN, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._free: list[int] = []
        self._slots = 0
        self._number = 0
        self._remember(folder / LOG)

    def _remember(self, log: Path) -> None:
        size = os.fstat(self._log).st_size
        if size and os.pread(self._log, 1, size - 1) != b"\n":  # cut by a full disk
            os.write(self._log, b"\n")
        for call in read_calls(log):
            self.spent.add(call)
            self._number = max(self._number, call.number)
            self.refused += call.times if call.outcome == "refused" else 0
        for at in range(0, os.fstat(self._open).st_size, _RECORD):
            with contextlib.suppress(msgspec.MsgspecError):
                call = msgspec.json.decode(os.pread(self._open, _RECORD, at).rstrip(b"\0"), type=Call)
                if call.number > self._number:
                    self._number = call.number
                call.outcome, call.reason = "cut", "the gateway died before the call ended"
                self.spent.add(call)
                self._write(call)
        if not self._unwritten:
            os.ftruncate(self._open, 0)

    @property
    def full(self) -> bool:
        return os.fstat(self._log).st_size >= LOG_BYTES

    def begin(self, call: Call) -> int:
        """Before it is passed on; the number of its record. Raises LedgerError if it could not be written later."""
        self._flush()
        if self._unwritten:
            raise LedgerError("the gateway's log cannot be written: is the disk full?")
        self._number += 1
        call.number = self._number
        slot = self._free.pop() if self._free else self._slots
        try:
            os.pwrite(self._open, msgspec.json.encode(call)[:_RECORD].ljust(_RECORD, b"\0"), slot * _RECORD)
        except OSError as error:
            raise LedgerError(f"the gateway's log cannot be written: {error.strerror}") from None
        self._slots = max(self._slots, slot + 1)
        return slot

    def end(self, slot: int, call: Call) -> None:
        """It has ended: count it, write its line."""
        self.spent.add(call)
        self._write(call)
        with contextlib.suppress(OSError):
            os.pwrite(self._open, b"\0" * _RECORD, slot * _RECORD)
        self._free.append(slot)

    def refuse(self, call: Call) -> None:
        """Log that a call was refused; an agent that asks for ever does not fill the disk."""
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
        os.close(self._open)

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


def read_calls(log: Path) -> Iterator[Call]:
    """The complete lines of a log, in the order in which the calls ended."""
    decoder = msgspec.json.Decoder(Call)
    with contextlib.suppress(FileNotFoundError), log.open("rb") as source:
        while line := source.readline(_LINE):
            with contextlib.suppress(msgspec.MsgspecError):
                yield decoder.decode(line)
