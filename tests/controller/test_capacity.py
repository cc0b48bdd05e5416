"""How many runs may be active at once."""

from __future__ import annotations

from mlecore.controller.capacity import UNBOUNDED, at_once
from mlecore.model.backends import Capacity
from mlecore.model.record import Limits


def test_slots():
    here = Capacity(cpus=16, memory=64 * 2**30, gpus=("0", "1", "2"))
    assert at_once(here, Limits(), None)[0] == 16
    assert at_once(here, Limits(cpus=5), None)[0] == 3
    assert at_once(here, Limits(cpus=0.1, memory=2**34), None)[0] == 4
    assert at_once(here, Limits(gpus=1), None)[0] == 3
    assert at_once(here, Limits(gpus=2), None)[0] == 1
    assert at_once(here, Limits(gpus=4), None) == (0, "3 GPUs, 4 a run")
    assert at_once(here, Limits(), 2) == (2, "--max-parallel")
    assert at_once(None, Limits(cpus=64), None)[0] == UNBOUNDED
    assert at_once(None, Limits(), 500)[0] == 500
