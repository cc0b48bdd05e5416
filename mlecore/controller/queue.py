"""Which run comes next, and how many fit at once: fair over agents, longest first, within what the place can give."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable

from attrs import field, mutable

from mlecore.backends import Capacity
from mlecore.runs.record import Limits, RunRecord

UNBOUNDED = 100  # at once, where the place schedules by itself and nobody says how many


@mutable
class Backlog:
    """Runs that have not begun. Seeds of one agent on one competition stand in one line, as they are alike.

    The agent with the fewest runs at work is served first; of its competitions the one that is expected to take
    longest: as long as its runs before took, or the whole time limit while none has ended; then that with more data.
    """

    sizes: dict[str, float]  # competition -> GB, as its facts say
    limit: float  # seconds a run may take
    lines: dict[str, dict[str, deque[RunRecord | Callable[[], RunRecord]]]] = field(factory=dict)
    begun: defaultdict[str, int] = field(factory=lambda: defaultdict(int))
    length: int = 0
    _taken: dict[tuple[str, str], tuple[int, float]] = field(factory=dict)

    def add(self, label: str, competition: str, run: RunRecord | Callable[[], RunRecord]) -> None:
        """A run, or what makes its record when its turn comes, so that ten thousand of them are no load."""
        self.lines.setdefault(label, {}).setdefault(competition, deque()).append(run)
        self.length += 1

    def took(self, label: str, competition: str, seconds: float | None) -> None:
        """A run ended after so long: what is expected of its like."""
        if seconds is not None:
            count, total = self._taken.get((label, competition), (0, 0.0))
            self._taken[label, competition] = (count + 1, total + seconds)

    def expected(self, label: str, competition: str) -> float:
        count, total = self._taken.get((label, competition), (0, 0.0))
        return total / count if count else self.limit

    def pop(self, at_work: dict[str, int], ready: Callable[[str, str], bool]) -> RunRecord | None:
        """The next run whose agent and data are ready, or None."""
        for label in sorted(self.lines, key=lambda name: (at_work.get(name, 0), self.begun[name])):
            lines = self.lines[label]
            offers = [competition for competition in lines if ready(label, competition)]
            if not offers:
                continue
            best = max(offers, key=lambda id: (self.expected(label, id), self.sizes.get(id, 0.0)))
            run = lines[best].popleft()
            if not lines[best]:
                del lines[best]
                if not lines:
                    del self.lines[label]
            self.begun[label] += 1
            self.length -= 1
            return run if isinstance(run, RunRecord) else run()
        return None

    def wanted(self) -> list[tuple[str, str]]:
        """Pairs of agent and competition that are still waited for, in no order."""
        return [(label, competition) for label, lines in self.lines.items() for competition in lines]

    def drop(self, label: str | None, competition: str | None) -> int:
        """Take out what cannot start; how many runs that were."""
        count = 0
        for name, lines in list(self.lines.items()):
            for id in list(lines):
                if label in (None, name) and competition in (None, id):
                    count += len(lines.pop(id))
            if not lines:
                del self.lines[name]
        self.length -= count
        return count

    def take(self, label: str, competition: str, name: str) -> RunRecord | None:
        """One run by its name, out of its turn."""
        line = self.lines.get(label, {}).get(competition, deque())
        for place, run in enumerate(line):
            record = run if isinstance(run, RunRecord) else run()
            if record.name == name:
                del line[place]
                self.length -= 1
                if not line:
                    self.drop(label, competition)
                return record
        return None


def at_once(capacity: Capacity | None, limits: Limits, max_parallel: int | None) -> tuple[int, str]:
    """How many runs fit, and what bounds them, in words. A run that names no CPUs counts as one."""
    bounds = [(max_parallel, "--max-parallel")] if max_parallel is not None else []
    if capacity is None:
        bounds += [] if bounds else [(UNBOUNDED, "the place schedules")]
    else:
        cpus = limits.cpus or 1.0
        bounds.append((int(capacity.cpus / cpus + 1e-9), f"{capacity.cpus:g} CPUs, {cpus:g} a run"))
        if limits.memory:
            bounds.append((capacity.memory // limits.memory, "memory"))
        if limits.gpus:
            bounds.append((len(capacity.gpus) // limits.gpus, f"{len(capacity.gpus)} GPUs, {limits.gpus} a run"))
    return min(bounds, key=lambda bound: bound[0])
