"""Having steps done in worker threads, and what follows when one fails: wait, try again, grade, or leave it be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from mlecore.backends import JobStatus
from mlecore.controller.state import ActiveRun, Interrupted
from mlecore.controller.transitions import FolderGone
from mlecore.controller.workers import Workers
from mlecore.errors import BackendUnreachable, GradingError, MlecoreError
from mlecore.runs.lock import LockLost

if TYPE_CHECKING:
    from mlecore.controller.loop import Controller

Then = Callable[[Any], None]


class Stepper:
    """Does one step at a time for a run, in the order in which they are asked for."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def do(self, live: ActiveRun, workers: Workers, function: Callable[[], Any], then: Then) -> None:
        """Have a step done; if disk or place fail it, do it again later, for they come back."""
        again = partial(self.do, live, workers, function, then)

        def done(result: Any, error: BaseException | None) -> None:
            if isinstance(error, Interrupted):
                return
            if error is None:
                live.tries = 0
                then(result)
            elif isinstance(error, LockLost) or not isinstance(error, Exception):
                raise error
            elif isinstance(error, FolderGone):
                self._dropped(live)
            elif isinstance(error, (OSError, BackendUnreachable)):
                self._wait(live, error, again)
            else:
                self._failed(live, error, again)

        workers.submit(function, done)

    def _wait(self, live: ActiveRun, error: Exception, again: Callable[[], None]) -> None:
        """Disk and place are waited for as long as it takes; only what keeps a run from starting has its limit."""
        main, name = self._controller, live.record.name
        live.tries += 1
        unreachable = isinstance(error, BackendUnreachable)
        if live.phase == "starting" and live.tries >= main.timing.start_tries and not unreachable:
            main.settle(live.record, "failed", str(error))
            return
        if unreachable:
            main.say(f"backend {main.experiment.plan.backend} does not answer, asking again: {error}", every=300)
        else:
            main.say(f"{name}: {live.phase}: {error}; trying again, nothing is lost", every=60)
        if live.tries == 1:
            main.journal.note("trouble", name, step=live.phase, why=str(error))
        main.later(self._delay(live.tries - 1), again)

    def _delay(self, doublings: int) -> float:
        timing = self._controller.timing
        return min(timing.step_first * 2.0 ** min(doublings, 20), timing.step_most)

    def _failed(self, live: ActiveRun, error: Exception, again: Callable[[], None]) -> None:
        """A step that failed for another reason than disk or place."""
        main, name = self._controller, live.record.name
        words = str(error) if isinstance(error, MlecoreError) else repr(error)
        live.tries += 1
        if live.phase == "starting":
            main.settle(live.record, "failed", words)
        elif live.tries < main.timing.tries and not isinstance(error, GradingError):
            main.journal.note("trouble", name, step=live.phase, why=words)
            main.later(self._delay(live.tries), again)
        elif live.phase == "finishing" and live.status and live.status.phase != "gone":
            live.tries = 0
            main.finish(live, JobStatus(phase="gone", reason=f"what it left cannot be fetched: {words}"))
        elif live.phase == "grading" and live.tries < main.timing.tries and self._worth_grading_again(live):
            main.say(f"{name}: not graded: {words}; trying again", every=60)
            main.journal.note("trouble", name, step=live.phase, why=words)
            main.later(self._delay(2 * live.tries), again)
        else:
            main.journal.note("left", name, step=live.phase, why=words)
            main.outcome.left.append(f"{name}: {'not graded' if live.phase == 'grading' else live.phase}: {words}")
            main.live.pop(name, None)

    def _worth_grading_again(self, live: ActiveRun) -> bool:
        """Answers that are away are waited for, and may be back by now; a second error is for a person to mend."""
        return live.tries == 1 or not self._controller.experiment.inputs[live.record.competition].data.private.is_dir()

    def _dropped(self, live: ActiveRun) -> None:
        main, record = self._controller, live.record
        main.say(f"{record.name}: its folder was deleted; it is stopped and left alone (resuming begins it anew)")
        main.journal.note("deleted by hand", record.name)
        main.outcome.left.append(f"{record.name}: its folder was deleted")
        main.live.pop(record.name, None)
        if record.attempt and record.attempt.handle and live.phase != "grading":
            main.clear(record.attempt.handle)
