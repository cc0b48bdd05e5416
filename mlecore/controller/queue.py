"""Which run comes next: fair over agents, longest first."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping

from attrs import field, mutable

from mlecore.model.plan import PlannedRun
from mlecore.model.record import RunRecord

Line = OrderedDict[str, "RunRecord | PlannedRun"]  # by the run's name


@mutable
class Backlog:
    """Runs that have not begun. Seeds of one agent on one competition are in one queue, as they are alike.

    The agent with the fewest active runs is served first; of its competitions the one that is expected to take
    longest: as long as its runs before took, or the whole time limit while none has ended; then that with more data.
    """

    make_record: Callable[[PlannedRun], RunRecord]  # called when a run's turn comes
    sizes: Mapping[str, float]  # competition -> GB, as its facts say
    limit: float  # seconds a run may take
    lines: dict[str, dict[str, Line]] = field(factory=dict)  # label -> competition -> runs
    started: defaultdict[str, int] = field(factory=lambda: defaultdict(int))
    length: int = 0
    _used: dict[tuple[str, str], tuple[int, float]] = field(factory=dict)  # how many runs ended after how long in all

    def add(self, run: RunRecord | PlannedRun) -> None:
        """At the end of its queue."""
        self.lines.setdefault(run.label, {}).setdefault(run.competition, OrderedDict())[run.name] = run
        self.length += 1

    def ended(self, record: RunRecord) -> None:
        """The time a run used, which is expected of others like it."""
        if record.seconds is not None:
            count, total = self._used.get((record.label, record.competition), (0, 0.0))
            self._used[record.label, record.competition] = (count + 1, total + record.seconds)

    def expected(self, label: str, competition: str) -> float:
        count, total = self._used.get((label, competition), (0, 0.0))
        return total / count if count else self.limit

    def pop(self, at_work: Mapping[str, int], ready: Callable[[str, str], bool]) -> RunRecord | None:
        """The next run whose agent and data are ready, or None. ``at_work``: label -> how many run now."""
        for label in sorted(self.lines, key=lambda name: (at_work.get(name, 0), self.started[name])):
            offers = [competition for competition in self.lines[label] if ready(label, competition)]
            if not offers:
                continue
            best = max(offers, key=lambda id: (self.expected(label, id), self.sizes.get(id, 0.0)))
            _, run = self.lines[label][best].popitem(last=False)
            self._removed(label, best)
            self.started[label] += 1
            return self.record(run)
        return None

    def wanted(self) -> list[tuple[str, str]]:
        """Pairs of label and competition that still have runs, in no order."""
        return [(label, competition) for label, lines in self.lines.items() for competition in lines]

    def drop(self, label: str, competition: str) -> int:
        """Take out runs that cannot start; how many they were."""
        line = self.lines.get(label, {}).get(competition, OrderedDict())
        count = len(line)
        line.clear()
        self._removed(label, competition, count)
        return count

    def take(self, run: PlannedRun) -> RunRecord | PlannedRun | None:
        """One run out of its turn, if it waits here, as it was added."""
        found = self.lines.get(run.label, {}).get(run.competition, OrderedDict()).pop(run.name, None)
        if found is not None:
            self._removed(run.label, run.competition)
        return found

    def record(self, run: RunRecord | PlannedRun) -> RunRecord:
        """The record of a run that was taken."""
        return run if isinstance(run, RunRecord) else self.make_record(run)

    def _removed(self, label: str, competition: str, count: int = 1) -> None:
        self.length -= count
        lines = self.lines.get(label, {})
        if not lines.get(competition, True):
            del lines[competition]
        if not lines:
            self.lines.pop(label, None)
