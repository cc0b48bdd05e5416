"""How long the controller waits for what."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Timing:
    """The controller's delays, in seconds."""

    poll_min: float = 0.1
    poll_max: float = 10.0
    poll_share: float = 0.1  # of the age of the youngest job
    slow: float = 3.0  # before a preparation that takes longer is reported
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
