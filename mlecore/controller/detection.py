"""Detectors running beside the controller: each run is judged once it is graded; a slow or failing one delays no run.

What they find lies in the runs' folders. A group that is resumed has the runs judged for which it is missing, so that a
controller that was killed leaves none out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from mlecore.controller.context import Context
from mlecore.controller.reporting import explain
from mlecore.detecting.judging import Dismissed, Judges
from mlecore.detecting.ready import ReadyDetector
from mlecore.model.findings import Findings
from mlecore.model.record import WITH_OUTPUT, RunRecord
from mlecore.runs.findings import group_digest, read_findings
from mlecore.runs.store import load_group, read_record
from mlecore.util.units import counted

Judged = list[tuple[RunRecord, list[Findings]]]


class Detection:
    """For the loop's thread; what blocks is done one after the other in one other thread, which alone has ``_runs``."""

    def __init__(self, context: Context) -> None:
        experiment = context.experiment
        self._judges = Judges(experiment.detectors, experiment.data, experiment.public_of)
        self._detectors = experiment.detectors
        self._context = context
        self._runs: dict[str, RunRecord] = {}  # those that detectors see
        self._concluded = not experiment.detectors
        self._said: set[str] = set()
        self._undecided: dict[str, dict[str, str]] = defaultdict(dict)  # detector -> run -> why

    def begin(self) -> None:
        """Judge what another controller did not come to."""
        if self._detectors:
            self._context.tasks.begin(self._do(self._judge_missing))

    def graded(self, run: RunRecord) -> None:
        """A run has come to its end."""
        if self._detectors:
            self._context.tasks.begin(self._do(partial(self._judge, run)))

    def conclude(self) -> bool:
        """The group is at its end: judge once more where runs are compared and others have come since.

        True: that has just begun.
        """
        if self._concluded:
            return False
        self._concluded = True
        self._context.tasks.begin(self._do(self._judge_outdated))
        return True

    def close(self) -> None:
        for name, runs in self._undecided.items():
            why = Counter(runs.values()).most_common(1)[0][0]
            self._context.reporter.say(f"detector {name} could not decide about {counted(len(runs), 'run')}: {why}")
        self._judges.close()

    async def _do(self, work: Callable[[], Judged]) -> None:
        try:
            judged = await self._context.tasks.call("detect", work)
        except Dismissed:
            return
        except Exception as error:
            self._context.reporter.say(
                f"{explain(error)}; to have the runs judged again: mlecore detect {self._context.group.name}"
            )
            return
        for run, found in judged:
            for each in found:
                self._report(run, each)

    def _report(self, run: RunRecord, found: Findings) -> None:
        self._context.extensions.put("run_judged", run, findings=found)
        name = found.detector.name
        self._context.reporter.note("judged", run.name, detector=name, outcome=found.outcome)
        if found.outcome == "failed":
            self._context.reporter.say(f"{run.name}: detector {name} failed: {found.failed}")
        elif found.undecided:
            self._undecided[name][run.name] = found.undecided
        for finding in found.flagged:
            text = f"{run.name}: detector {name}: {finding.verdict}: {finding.summary}"
            if text not in self._said:  # runs that are compared are judged twice, mostly with the same result
                self._said.add(text)
                self._context.reporter.say(text)

    # In the other thread.

    def _judge_missing(self) -> Judged:
        self._runs = {run.name: run for run in load_group(self._context.group.folder) if run.state in WITH_OUTPUT}
        return self._each((run, self._missing(run)) for run in list(self._runs.values()) if run.state == "graded")

    def _judge(self, run: RunRecord) -> Judged:
        self._runs[run.name] = run
        return self._each([(run, self._missing(run))])

    def _judge_outdated(self) -> Judged:
        digest = group_digest(self._runs.values())
        comparing = [detector for detector in self._detectors if detector.detector.compares]

        def outdated(run: RunRecord) -> list[ReadyDetector]:
            found, _ = read_findings(read_record(run.folder))
            return [each for each in comparing if each.name in found and found[each.name].group != digest]

        return self._each((run, outdated(run)) for run in self._runs.values() if run.state == "graded")

    def _missing(self, run: RunRecord) -> list[ReadyDetector]:
        found, _ = read_findings(read_record(run.folder))
        for each in found.values():  # another controller may not have come to it
            self._context.extensions.put("run_judged", run, findings=each)
        return [each for each in self._detectors if each.name not in found or found[each.name].failed]

    def _each(self, wanted: Iterable[tuple[RunRecord, Sequence[ReadyDetector]]]) -> Judged:
        group = list(self._runs.values())
        return [(run, self._judges.judge(run, group, detectors)) for run, detectors in wanted if detectors]
