"""What the parts of a controller share: its group, and the means to work on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from mlecore.controller.experiment import Experiment
    from mlecore.controller.extensions import Extensions
    from mlecore.controller.records import RecordWriter
    from mlecore.controller.reporting import Reporter
    from mlecore.controller.tasks import Tasks
    from mlecore.runs.store import Group


@frozen(kw_only=True)
class Timing:
    """The controller's delays, in seconds."""

    poll_min: float = 0.1
    poll_max: float = 10.0
    poll_share: float = 0.1  # of the age of the youngest job
    slow: float = 3.0  # before a preparation that takes longer is reported
    pending: float = 2.0  # before a job that does not run yet counts as waiting
    stuck: float = 300.0  # before a run is failed whose job waits for what does not come by itself
    step_delay: float = 1.0  # before a step that failed because of the disk or the backend is repeated; doubles
    step_delay_max: float = 60.0
    attempt_delay: float = 15.0  # before a new attempt; doubles
    attempt_delay_max: float = 600.0
    step_tries: int = 4  # of a step that fails for another reason
    start_tries: int = 10  # before a run is failed that the disk keeps from starting
    overdue: float = 120.0  # beyond limit and grace, before a job whose init has died is stopped from here
    requests: float = 1.0  # between two checks for requests
    drain: float = 10.0  # for steps in progress, when the controller is asked to stop
    deliver: float = 60.0  # for each next event to reach the extensions, when all runs have ended


@frozen(kw_only=True, eq=False)
class Context:
    """Given to whatever works on a group's runs."""

    group: Group
    experiment: Experiment
    records: RecordWriter
    extensions: Extensions
    reporter: Reporter
    tasks: Tasks
    timing: Timing
