"""When a job must have ended, by the supervisor's clock: an agent may hinder init, which keeps the limit inside.

init asks the agent to end at the limit, and kills it when the grace is over. A little later, what is left of the agent
is killed from outside, and init can still write its report. Later still, init itself is killed.
"""

from __future__ import annotations

import os
import signal

from . import processes

SLACK = 2.0  # seconds that init may be late: it looks once a second
REPORT = 20.0  # seconds that init may then take to report
OVER = 5.0  # seconds beyond the limit at which a job's end is no longer its own, whatever it reports


class Deadline:
    """The deadline of one job that began at ``started``, by the monotonic clock."""

    def __init__(self, started: float, limit: float, grace: float) -> None:
        self._limit = limit
        self._started = started
        self._agent = started + limit + grace + SLACK
        self._init = self._agent + REPORT
        self.late = False  # the agent outlived its time

    def check(self, now: float, init: int) -> bool:
        """Kill what is left of the agent where its time is over. True: it is time to kill init, too."""
        if now < self._agent:
            return False
        for pid in _of_agent(init, self._agent - now):
            self.late = processes.send(pid, signal.SIGKILL) or self.late
        return now >= self._init

    def near(self, now: float) -> bool:
        """Is it worth looking more often?"""
        return now > self._agent - SLACK

    def passed(self, now: float) -> bool:
        """Did a job that has ended now work beyond its time, whatever it says itself?"""
        return self.late or now - self._started > self._limit + OVER


def _of_agent(init: int, since: float) -> list[int]:
    """The processes below init, but not those that it started to report: in its session, after ``since`` (< 0)."""
    own = processes.stat_fields(init)
    if own is None:
        return []
    with open("/proc/uptime") as source:  # noqa: PTH123
        uptime = float(source.read().split()[0])
    ticks = (uptime + since) * os.sysconf("SC_CLK_TCK")
    out = []
    for pid in processes.below(init):
        fields = processes.stat_fields(pid)
        if fields and (fields[3] != own[3] or int(fields[19]) < ticks):
            out.append(pid)
    return out
