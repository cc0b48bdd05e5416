"""Which run comes next: fair over agents, longest first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from attrs import field, mutable

from mlecore.model.plan import PlannedRun
from mlecore.model.record import RunRecord

Pair = tuple[str, str]  # the label of an agent, and a competition


@mutable
class Backlog:
    """Runs that have not begun. Seeds of one agent on one competition are in one line, as they are alike.

    The agent with the fewest active runs is served first; of its competitions the one that is expected to take
    longest: as long as its runs before took, or the whole time limit while none has ended; then that with more data.
    """

    make_record: Callable[[PlannedRun], RunRecord]  # called when a run's turn comes
    sizes: Mapping[str, float]  # competition -> GB, as its facts say
    limits: Mapping[str, float]  # label -> seconds a run may take
    lines: dict[Pair, dict[str, RunRecord | PlannedRun]] = field(factory=dict)  # by the run's name; none is empty
    length: int = 0
    _started: Counter[str] = field(factory=Counter)  # label -> runs
    _used: defaultdict[Pair, list[float]] = field(factory=lambda: defaultdict(list))  # seconds of runs that ended

    def add(self, run: RunRecord | PlannedRun) -> None:
        """At the end of its line."""
        self.lines.setdefault((run.label, run.competition), {})[run.name] = run
        self.length += 1

    def ended(self, record: RunRecord) -> None:
        """The time a run used, which is expected of others like it."""
        if record.seconds is not None:
            self._used[record.label, record.competition].append(record.seconds)

    def expected(self, label: str, competition: str) -> float:
        used = self._used.get((label, competition))
        return sum(used) / len(used) if used else self.limits[label]

    def pop(self, at_work: Mapping[str, int], ready: Callable[[str, str], bool]) -> RunRecord | None:
        """The next run whose agent and data are ready, or None. ``at_work``: label -> how many run now."""

        def order(pair: Pair) -> tuple[float, ...]:
            label, competition = pair
            longest = self.expected(label, competition), self.sizes.get(competition, 0.0)
            return at_work.get(label, 0), self._started[label], -longest[0], -longest[1]

        best = min((pair for pair in self.lines if ready(*pair)), key=order, default=None)
        if best is None:
            return None
        self._started[best[0]] += 1
        return self.record(self._remove(best, next(iter(self.lines[best]))))

    def drop(self, pair: Pair) -> int:
        """Take out runs that cannot start; how many they were."""
        count = len(self.lines.pop(pair, ()))
        self.length -= count
        return count

    def take(self, run: PlannedRun) -> RunRecord | PlannedRun | None:
        """One run out of its turn, if it waits here, as it was added."""
        pair = run.label, run.competition
        return self._remove(pair, run.name) if run.name in self.lines.get(pair, ()) else None

    def record(self, run: RunRecord | PlannedRun) -> RunRecord:
        """The record of a run that was taken."""
        return run if isinstance(run, RunRecord) else self.make_record(run)

    def _remove(self, pair: Pair, name: str) -> RunRecord | PlannedRun:
        line = self.lines[pair]
        run = line.pop(name)
        self.length -= 1
        if not line:
            del self.lines[pair]
        return run
