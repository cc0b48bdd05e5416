"""What a fault is: a function that does it to one experiment on a Slurm cluster.

It returns how many runs must have been retried (0: none may), so that an infrastructure failure that is counted, and a
result that is thrown away, are both noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from _slurm_cluster import until
from _slurm_lab import Case
from attrs import frozen

Do = Callable[[Case], int]
End = Literal["graded", "cancelled", "failed", "oom"]


@frozen(kw_only=True)
class Fault:
    name: str
    kind: str
    do: Do
    end: End = "graded"  # of every run; "oom": of the first run

    @property
    def alone(self) -> bool:
        """Does it harm the jobs of others?"""
        return self.kind in ("node", "server")

    @property
    def words(self) -> str:
        return (self.do.__doc__ or "").partition("\n")[0].rstrip(".")


FAULTS: list[Fault] = []


def fault(kind: str, end: End = "graded") -> Callable[[Do], Do]:
    def register(do: Do) -> Do:
        FAULTS.append(Fault(name=do.__name__.replace("_", "-"), kind=kind, do=do, end=end))
        return do

    return register


def task_of(case: Case) -> str:
    """Of the first run that is at work."""
    entry = case.running()[0]
    return until(entry.task, "its task")
